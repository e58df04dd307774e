import ArgumentParser
import Foundation
import Inference
import OpenCLKit

/// `bgrun-bench lanes`: layers, or a model, on the CPU lane and on an OpenCL device.
struct LanesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanes", abstract: "Compare the OpenCL lane of inference with the CPU lane, by processor time.")

    @Option(help: "Rounds; each lane runs in each.")
    var rounds = 9

    @Option(help: "Seconds of processor time that a lane runs in a round, at least.")
    var slice = 0.05

    @Option(help: "Only layers whose name contains this.")
    var only: String?

    @Option(help: "A model instead of layers; extents that it leaves open are 1.")
    var model: String?

    @Option(help: "How the device keeps values: float32 or float16.")
    var storage = ElementStorage.float32

    @Flag(help: "Use the defaults also where a tuning was measured.")
    var untuned = false

    func run() throws {
        let folder = CacheFolder.standard()
        CacheFolder.prepareDrivers(folder: folder)
        guard let device = try OpenCLLibrary.open().platforms().flatMap({ try $0.devices() }).first else {
            throw ValidationError("there is no OpenCL device")
        }
        let lane = try InferenceDevice(
            device: device, tunings: TuningStore(folder: untuned ? nil : folder), storage: storage,
            cache: ProgramCache(folder: folder))
        print(
            "\(device.info.identity), \(device.info.platformVersion), \(storage); median of \(rounds) rounds, processor time.\n"
        )
        print("| layer | CPU lane ms | GFLOP/s | OpenCL ms | GFLOP/s | ratio | difference |")
        print("|---|---|---|---|---|---|---|")
        var ratios: [Double] = []
        for layer in try layers() {
            if let only, !layer.name.contains(only) { continue }
            let figures = try LaneComparison(layer.model, inputs: layer.inputs, device: lane)
                .measured(rounds: rounds, slice: slice)
            ratios.append(figures.ratio)
            print(Self.row(layer, figures))
            fflush(nil)
        }
        print(String(format: "\nGeometric mean of the ratios: %.2f", geometricMean(ratios)))
        lane.storePrograms()
    }

    private static func row(_ layer: LaneLayer, _ figures: LaneComparison.Figures) -> String {
        func cells(_ seconds: Double) -> String {
            layer.multiplyAdds == 0
                ? String(format: "%.2f | -", seconds * 1e3)
                : String(format: "%.3f | %.0f", seconds * 1e3, 2e-9 * Double(layer.multiplyAdds) / seconds)
        }
        let plain = figures.plainNodes == 0 ? "" : " (\(figures.plainNodes) nodes plainly)"
        return "| \(layer.name)\(plain) | \(cells(figures.cpuLane)) | \(cells(figures.openCL)) |"
            + String(format: " %.2f | %.0e |", figures.ratio, figures.difference)
    }

    private func layers() throws -> [LaneLayer] {
        guard let model else { return try LaneLayer.all() }
        return [try LaneLayer(model, batch: 1)]
    }
}

extension ElementStorage: ExpressibleByArgument {}
