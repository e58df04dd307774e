import Foundation
import OpenCLKit
import TemporaryFolders
import Testing

import Inference

@Suite struct KernelTunerTests {
    private static let problems: [KernelTuning.ShapeClass: KernelTuner.Problem] = [
        .few: KernelTuner.Problem(channels: 8, side: 7), .many: KernelTuner.Problem(channels: 8, side: 33),
    ]

    private func tuner(
        progress: @escaping (Int, Int) -> Void = { _, _ in }, shouldStop: @escaping () -> Bool = { false }
    ) throws -> (tuner: KernelTuner, candidates: [KernelTuning]) {
        let device = try OpenCLFixture.openCLDevice()
        let tuner = KernelTuner(
            device: device, cache: ProgramCache(folder: nil), progress: progress, shouldStop: shouldStop)
        return (tuner, Array(KernelTuning.candidates(for: device.info).prefix(2)))
    }

    @Test func whatIsChosenWasMeasured() throws {
        var told: [Int] = []
        let (tuner, candidates) = try tuner(progress: { done, total in
            told.append(done)
            #expect(total == 3)
        })
        let outcome = try tuner.tune(candidates, problems: Self.problems, channels: [8])
        #expect(told == [1, 2, 3])
        #expect(outcome.figures.count == 4)
        for shapeClass in Self.problems.keys {
            let best = outcome.figures.first { $0.shapeClass == shapeClass }
            #expect(outcome.tuning.tiles[shapeClass] == best?.tile)
        }
        #expect([1, 8, .max].contains(outcome.tuning.winogradChannels) && outcome.tuning.isSound)
    }

    @Test func aStopChangesNothing() throws {
        for count in [0, 3, 20] {
            var asked = 0
            let (tuner, candidates) = try tuner(shouldStop: {
                asked += 1
                return asked > count
            })
            let error = #expect(throws: ModelError.self) {
                try tuner.tune(candidates, problems: Self.problems, channels: [8])
            }
            #expect(error?.code == .stopped)
            #expect(asked == count + 1)
        }
    }

    @Test func theFastestTilesAreChosenAmongVectorsOfOneWidth() throws {
        func tile(_ rows: Int, _ width: Int) -> KernelTuning.Tile {
            KernelTuning.Tile(rows: rows, columns: 2 * width, depth: 256)
        }
        var candidates: [KernelTuning] = []
        for width in [16, 8] {
            var tuning = KernelTuning.vectors
            tuning.width = width
            tuning.tiles = [.few: tile(6, width), .many: tile(6, width)]
            candidates.append(tuning)
        }
        func figure(_ shape: KernelTuning.ShapeClass, _ width: Int, _ rows: Int, _ rate: Double) -> KernelTuner.Figure {
            KernelTuner.Figure(shapeClass: shape, width: width, tile: tile(rows, width), rate: rate)
        }
        let figures = [
            figure(.few, 16, 6, 10), figure(.few, 16, 12, 20), figure(.many, 16, 6, 100), figure(.many, 16, 12, 90),
            // The fastest for one shape, and much slower for the other.
            figure(.few, 8, 6, 25), figure(.many, 8, 6, 40),
        ]
        let best = try #require(KernelTuner.best(candidates, figures))
        #expect(best.width == 16)
        #expect(best.tiles[.few] == tile(12, 16) && best.tiles[.many] == tile(6, 16))
        #expect(KernelTuner.best(candidates, []) == nil)
    }

    @Test func candidatesFitTheirDevice() throws {
        var info = try OpenCLFixture.openCLDevice().info
        let onCPU = KernelTuning.candidates(for: info)
        #expect(onCPU.count > 4 && onCPU.allSatisfy { $0.width > 1 && $0.threads == 1 && $0.isSound })
        info.type = .gpu
        info.localMemoryBytes = 16_384 + 1_024
        let onGPU = KernelTuning.candidates(for: info)
        #expect(!onGPU.isEmpty)
        #expect(onGPU.allSatisfy { $0.width == 1 && $0.isSound && $0.localBytes <= info.localMemoryBytes })
        info.localMemoryBytes = 65_536
        #expect(KernelTuning.candidates(for: info).count > onGPU.count)
    }

    // MARK: Store

    @Test func aTuningIsFoundForItsDeviceAndDriverOnly() throws {
        let folder = try TemporaryFolder()
        let device = try OpenCLFixture.openCLDevice()
        let store = TuningStore(folder: folder.path)
        #expect(store.tuning(for: device.info) == nil)
        var tuning = KernelTuning.vectors
        tuning.winogradChannels = 77
        #expect(store.store(tuning, for: device.info))
        #expect(store.tuning(for: device.info) == tuning)
        let cache = ProgramCache(folder: nil)
        #expect(try InferenceDevice(device: device, tunings: store, cache: cache).tuning == tuning)
        var other = device.info
        other.driverVersion += " newer"
        #expect(store.tuning(for: other) == nil)
        #expect(!TuningStore(folder: nil).store(tuning, for: device.info))
    }

    @Test func aDamagedOrUnsoundTuningIsNotUsed() throws {
        let folder = try TemporaryFolder()
        let device = try OpenCLFixture.openCLDevice()
        let store = TuningStore(folder: folder.path)
        var unsound = KernelTuning.vectors
        unsound.width = 3
        #expect(store.store(unsound, for: device.info))
        #expect(store.tuning(for: device.info) == nil)
        #expect(store.store(.vectors, for: device.info))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("tunings"))
        let path = folder.file("tunings/" + (try #require(names.first)))
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[bytes.count - 3] ^= 1
        try bytes.write(to: URL(filePath: path))
        #expect(store.tuning(for: device.info) == nil)
        let kernels = try InferenceDevice(device: device, tunings: store, cache: ProgramCache(folder: nil))
        #expect(kernels.tuning == KernelTuning.standard(for: device.info))
    }
}
