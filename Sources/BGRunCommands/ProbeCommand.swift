import ArgumentParser
import ResourceProbe

/// The process that loads OpenCL drivers for ``DevicesCommand`` and for admission; not for people.
struct ProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe-opencl",
        abstract: "Try OpenCL drivers and report on standard output.",
        shouldDisplay: false
    )

    @Option var loader: String
    @Option var library: String?
    @Option var secondsToLive: UInt32 = 30

    func run() {
        ProbeHelper.run(loader: loader, library: library, secondsToLive: secondsToLive)
    }
}
