import ArgumentParser
import Glibc
import Inference
import OpenCLKit
import ResourceProbe
import TaskModel

/// `bgrun tune`.
struct TuneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tune",
        abstract: "Measure how models run fastest on an OpenCL device, and keep it for later runs.",
        discussion: """
            Kernels are timed with each size of their tiles. What was measured holds for this device, its driver and this \
            version of bgrun; it is kept in the cache folder. Without a tuning the defaults of the device's kind are used. \
            Ctrl-C stops with nothing changed.

            EXAMPLES
              bgrun tune
              bgrun tune --device 'NVIDIA Corporation:gpu:NVIDIA H100' --json

            EXIT STATUS
              0    the device was measured
              69   there is no such device, or it cannot be used (bgrun devices says why)
              73   the cache folder cannot be written to
              75   stopped early; nothing was changed
            """)

    @Option(
        help: .init(
            "The device, as bgrun devices names it; the first GPU where left out, else the first device.",
            valueName: "identity"))
    var device: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// For tests: candidates that are measured.
    @Option(help: .hidden)
    var most = Int.max

    func run() throws {
        let report = ResourceProbe.blockingReport(.standard())
        let healthy = report.drivers.flatMap(\.platforms).flatMap(\.devices).filter { $0.health == .healthy }
        let chosen =
            device.map { name in healthy.first { $0.info.identity == name } }
            ?? healthy.first { $0.info.type == .gpu } ?? healthy.first
        guard let chosen else {
            throw Trouble.told(
                device.map { "\($0) cannot be used." } ?? "there is no OpenCL device.",
                fix: "bgrun devices lists them, and says why others are rejected.", .unavailable)
        }
        guard let folder = CacheFolder.standard() else {
            throw Trouble.told(
                "the cache folder cannot be written to.", fix: "Set XDG_CACHE_HOME to a folder of yours.", .cannotCreate
            )
        }
        // No other driver is loaded from here on.
        for (name, value) in chosen.environment { setenv(name, value, 1) }
        CacheFolder.prepareDrivers(folder: folder)
        _ = StopSignals.install()
        let outcome = try measured(chosen.info, folder)
        guard TuningStore(folder: folder).store(outcome.tuning, for: chosen.info) else {
            throw Trouble.told("the tuning cannot be written.", fix: "Look for room in \(folder).", .writeFailed)
        }
        try? StandardOutput.print(
            json
                ? JSONText.encode(TuningDocument(device: chosen.info.identity, outcome)) + "\n"
                : TuningText.text(chosen.info.identity, outcome))
    }

    private func measured(_ info: DeviceInfo, _ folder: String) throws -> KernelTuner.Outcome {
        let isLive = isatty(STDERR_FILENO) == 1
        do {
            guard let device = try OpenCLLibrary.open().device(identity: info.identity) else {
                throw Trouble.told(
                    "\(info.identity) has gone.", fix: "bgrun devices lists what is there.", .unavailable)
            }
            let tuner = KernelTuner(
                device: device, cache: ProgramCache(folder: folder),
                progress: { done, total in
                    let line = "measuring, \(done) of \(total)"
                    StandardError.write(isLive ? "\r\(line)\(done == total ? "\n" : "")" : "\(line)\n")
                }, shouldStop: { StopSignals.received != nil })
            return try tuner.tune(Array(KernelTuning.candidates(for: info).prefix(most)))
        } catch let error as ModelError where error.code == .stopped {
            throw Trouble.told("stopped; nothing was changed.", fix: "Give the command again.", .stoppedEarly)
        } catch let error as ModelError {
            throw Trouble.told(error.sentence + ".", fix: "bgrun devices tells more.", .unavailable)
        } catch let error as OpenCLError {
            throw Trouble.told("\(error).", fix: "bgrun devices tells more.", .unavailable)
        } catch let error as OpenCLUnavailable {
            throw Trouble.told("\(error).", fix: "bgrun devices tells more.", .unavailable)
        }
    }
}

/// The JSON form.
struct TuningDocument: Encodable {
    /// Raised when a field changes its meaning or goes away.
    let version = 1
    let device: String
    let tuning: KernelTuning
    let figures: [KernelTuner.Figure]

    init(device: String, _ outcome: KernelTuner.Outcome) {
        self.device = device
        tuning = outcome.tuning
        figures = outcome.figures
    }
}

/// A tuning for people.
enum TuningText {
    static func text(_ device: String, _ outcome: KernelTuner.Outcome) -> String {
        var lines = [device]
        for shapeClass in KernelTuning.ShapeClass.allCases {
            guard let tile = outcome.tuning.tiles[shapeClass],
                let best = outcome.figures.first(where: { $0.shapeClass == shapeClass && $0.tile == tile })
            else { continue }
            let tenths = Int((best.rate * 20).rounded())
            lines.append(
                "  \(shapeClass.rawValue) columns: tiles of \(tile.rows) x \(tile.columns), depth \(tile.depth),"
                    + " \(tenths / 10).\(tenths % 10) GFLOP/s")
        }
        let fewest = outcome.tuning.winogradChannels
        lines.append(
            "  3 x 3 in fewer products: " + (fewest == .max ? "never" : "from \(fewest) channels on"))
        return lines.joined(separator: "\n") + "\n"
    }
}
