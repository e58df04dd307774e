import ChunkedCompute
import ArgumentParser
import Foundation
import Glibc
import ImageCodecs
import ImageExport

/// `bgrun-bench gaps`: the longest time in which a running item hears nothing of a stop or a pause.
struct GapsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gaps", abstract: "Measure the longest time between two moments at which an item can stop.")

    @Argument(help: "Pictures.")
    var files: [String]

    @Option(help: .init("Only these outputs, with commas, e.g. jpeg,webp.", valueName: "names"))
    var outputs: String?

    func run() throws {
        let chosen = outputs?.split(separator: ",").map(String.init)
        print("file                       output            gap ms  on the CPU ms  commit ms")
        for file in files {
            for (name, settings) in Self.outputs where chosen?.contains(name) ?? true {
                try measure(file, name, settings)
            }
        }
    }

    private static let outputs: [(String, OutputSettings)] = {
        func settings(_ format: ImageFormat, _ change: (inout OutputSettings) -> Void = { _ in }) -> OutputSettings {
            var settings = OutputSettings()
            settings.format = format
            change(&settings)
            return settings
        }
        return [
            ("jpeg 2048", settings(.jpeg) { $0.size = .longEdge(2048) }), ("jpeg", settings(.jpeg)),
            ("jpeg progressive", settings(.jpeg) { $0.progressive = true }),
            ("jpeg optimize", settings(.jpeg) { $0.optimize = true }),
            ("png 2048", settings(.png) { $0.size = .longEdge(2048) }), ("png", settings(.png)),
            ("png optimize", settings(.png) { $0.optimize = true }),
            ("webp 2048", settings(.webp) { $0.size = .longEdge(2048) }), ("webp", settings(.webp)),
            (
                "webp lossless 2048",
                settings(.webp) {
                    $0.lossless = true
                    $0.size = .longEdge(2048)
                }
            ),
        ]
    }()

    /// What this thread has used of a processor: the same however busy the machine is.
    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private func measure(_ file: String, _ name: String, _ settings: OutputSettings) throws {
        let path = NSTemporaryDirectory() + "bgrun-gaps-\(getpid())"
        defer { unlink(path) }
        let output = ExportItem.Output(settings: settings, path: path, mayReplace: true)
        let item = ExportItem(input: file, outputs: [output], lane: .cpu, limits: DecodeLimits())
        let clock = SuspendingClock()
        var last = clock.now
        var longest = Duration.zero
        var lastUsed = Self.processorSeconds
        var longestUsed = 0.0
        let result = ImageExporter().export(item) { _ in
            let now = clock.now
            let used = Self.processorSeconds
            longest = max(longest, last.duration(to: now))
            longestUsed = max(longestUsed, used - lastUsed)
            last = now
            lastUsed = used
            return true
        }
        let tail = last.duration(to: clock.now)
        guard result.status == .good else {
            print("\((file as NSString).lastPathComponent): \(name): \(result.failure?.reason ?? "?")")
            return
        }
        let columns = [
            (file as NSString).lastPathComponent.padding(toLength: 26, withPad: " ", startingAt: 0),
            name.padding(toLength: 16, withPad: " ", startingAt: 0),
            String(format: "%7.1f", longest / .milliseconds(1)), String(format: "%14.1f", longestUsed * 1000),
            String(format: "%10.1f", tail / .milliseconds(1)),
        ]
        print(columns.joined(separator: " "))
        // As it comes, also into a file.
        fflush(nil)
    }
}
