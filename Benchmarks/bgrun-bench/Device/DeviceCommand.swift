import ArgumentParser
import Foundation
import ImageExport
import Inference
import Locking
import OpenCLKit

/// `bgrun-bench device`: what an OpenCL device does, by wall time, beside what it can do at most.
struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Measure operations on pictures, layers and models on an OpenCL device, beside its limits.")

    @Option(help: "Size of the picture.")
    var size = "6000x4000"

    @Option(help: "Timed runs, of which the fastest counts.")
    var runs = 10

    @Option(help: "Inputs at a time for layers and models.")
    var batch = 32

    @Option(parsing: .upToNextOption, help: "Models.")
    var model: [String] = []

    @Option(help: "How the device keeps values: float32 or float16.")
    var storage = ElementStorage.float32

    @Flag(help: "Use the defaults also where a tuning was measured.")
    var untuned = false

    @Flag(help: "Only layers and models.")
    var inferenceOnly = false

    func run() throws {
        let folder = CacheFolder.standard()
        CacheFolder.prepareDrivers(folder: folder)
        let devices = try OpenCLLibrary.open().platforms().flatMap { try $0.devices() }
        guard let device = devices.first(where: { $0.info.type == .gpu }) ?? devices.first else {
            throw ValidationError("there is no OpenCL device")
        }
        let limits = try DeviceLimits(device)
        print("\(device.info.identity), \(device.info.platformVersion)")
        print(
            String(
                format: "copies %.0f GB/s read and written, %.2f T multiply-adds/s\n", limits.bytesPerSecond * 1e-9,
                limits.multiplyAddsPerSecond * 1e-12))
        if !inferenceOnly { try pictures(device, limits, ProgramCache(folder: folder)) }
        try inference(device, limits, folder)
    }

    // MARK: Pictures

    private func pictures(_ device: Device, _ limits: DeviceLimits, _ cache: ProgramCache) throws {
        let parts = size.split(separator: "x").compactMap { Int($0) }
        guard parts.count == 2 else { throw ValidationError("a size is e.g. 6000x4000") }
        let bench = ChainBench((width: parts[0], height: parts[1]))
        let lane = try OpenCLLane(device: device, cache: cache)
        let megapixels = bench.pixelCount * 1e-6
        print(
            "| operation | CPU lane, two threads, MP/s | device MP/s | ratio | of the limit | to the device and back MP/s |"
        )
        print("|---|---|---|---|---|---|")
        for operation in DeviceOperation.all {
            let once = try bench.seconds(operation.less, lane, rows: parts[1], runs: runs)
            let often = try bench.seconds(operation.more, lane, rows: parts[1], runs: runs)
            let seconds = (often - once) / Double(operation.times)
            let limit = limits.seconds(
                bytes: operation.bytes * bench.pixelCount, operations: operation.operations * bench.pixelCount)
            let beside = 2 * megapixels / (try processorSeconds(operation, bench))
            print(
                "| \(operation.name) "
                    + String(
                        format: "| %.0f | %.0f | %.0f | %.2f | %.0f |", beside, megapixels / seconds,
                        megapixels / seconds / beside,
                        limit / seconds, megapixels / once))
            fflush(nil)
        }
        print("")
        lane.storeProgram(in: cache)
    }

    /// Of one picture on each of two threads at a time.
    private func processorSeconds(_ operation: DeviceOperation, _ bench: ChainBench) throws -> Double {
        let outcomes = Lock<[Result<Double, any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            let outcome = Result {
                guard let lane = CPULane() else { throw ValidationError("no kernels for this CPU") }
                let once = try bench.seconds(operation.less, lane, rows: lane.chunkChainRows, runs: 2)
                return try bench.seconds(operation.more, lane, rows: lane.chunkChainRows, runs: 2) - once
            }
            outcomes.withLock { $0.append(outcome) }
        }
        let seconds = try outcomes.withLock { try $0.map { try $0.get() } }
        return (seconds.max() ?? 0) / Double(operation.times)
    }

    // MARK: Inference

    private func inference(_ device: Device, _ limits: DeviceLimits, _ folder: String?) throws {
        let lane = try InferenceDevice(
            device: device, tunings: TuningStore(folder: untuned ? nil : folder), storage: storage,
            cache: ProgramCache(folder: folder))
        func seconds(_ layer: LaneLayer) throws -> Double {
            let types = layer.inputs.mapValues { TensorType($0.elementType, extents: $0.shape) }
            let model = try OpenCLModel(layer.model, on: lane, inputs: types)
            return try bestSeconds(of: runs) { _ = try model.execute(layer.inputs) }
        }
        print("| \(storage), batch \(batch) | device ms | inputs/s | GFLOP/s | of the limit |")
        print("|---|---|---|---|---|")
        func row(_ name: String, _ seconds: Double, _ multiplyAdds: Int) {
            print(
                "| \(name) "
                    + String(
                        format: "| %.3f | %.0f | %.0f | %.2f |", seconds * 1e3, Double(batch) / seconds,
                        2e-9 * Double(multiplyAdds) / seconds,
                        Double(multiplyAdds) / limits.multiplyAddsPerSecond / seconds))
            fflush(nil)
        }
        // By the difference, so that the way to the device and back does not count.
        let times = 4
        for (one, more) in zip(
            try LaneLayer.chains(batch: batch, times: 1), try LaneLayer.chains(batch: batch, times: 1 + times))
        {
            row(one.name, try (seconds(more) - seconds(one)) / Double(times), one.multiplyAdds)
        }
        for path in model {
            let whole = try LaneLayer(path, batch: batch)
            row(whole.name, try seconds(whole), whole.multiplyAdds)
        }
        lane.storePrograms()
    }
}
