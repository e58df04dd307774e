import ChunkedCompute
import ArgumentParser
import Foundation
import Glibc
import ImageCodecs
import ImageExport

/// `bgrun-bench pipeline`: the export pipeline in a plain loop, without scheduler, workers, progress and journal.
///
/// What `bgrun export` takes beyond this is what those cost.
struct PipelineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipeline", abstract: "Export to 2048 px JPEGs in a plain loop.", shouldDisplay: false)

    @Option(help: "Folder for the outputs.")
    var out: String

    @Option(help: "Processes, each of which takes the next picture when it is done with one.")
    var processes = 1

    @Flag(help: "Take the places of pictures, 4 bytes each, from standard input.")
    var placesFromInput = false

    @Argument(help: "Pictures.")
    var files: [String]

    func run() throws {
        guard processes == 1 else { return try share() }
        let exporter = ImageExporter()
        guard placesFromInput else {
            for file in files { try export(file, with: exporter) }
            return
        }
        var place = UInt32()
        while read(STDIN_FILENO, &place, MemoryLayout<UInt32>.size) == MemoryLayout<UInt32>.size {
            try export(files[Int(place)], with: exporter)
        }
    }

    private func export(_ file: String, with exporter: ImageExporter) throws {
        var settings = OutputSettings()
        settings.size = .longEdge(2048)
        settings.format = .jpeg
        settings.quality = 85
        let name = (file as NSString).lastPathComponent
        let output = ExportItem.Output(settings: settings, path: "\(out)/\(name)", mayReplace: true)
        let item = ExportItem(input: file, outputs: [output], lane: .cpu, limits: DecodeLimits())
        let result = exporter.export(item) { _ in true }
        guard result.status == .good else {
            throw ProcessError(description: "\(file): \(result.failure?.reason ?? result.status.rawValue)")
        }
    }

    /// Starts the processes, with the places of all pictures in a pipe that they read in turn. As the workers of an export,
    /// they share one session.
    private func share() throws {
        var ends: [Int32] = [0, 0]
        var places = Array(0..<UInt32(files.count))
        let size = places.count * MemoryLayout<UInt32>.size
        // A pipe holds 64 KiB (pipe(7)); more would wait for readers that do not run yet.
        guard size <= 65_536, pipe(&ends) == 0, write(ends[1], &places, size) == size else {
            throw ProcessError(description: "no pipe for \(files.count) pictures")
        }
        // A reader that held the other end as well would never see the end of what is written.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let words = [Executables.own, "pipeline", "--places-from-input", "--out", out] + files
        let programs = try (0..<processes).map { _ in
            try SessionProgram(
                words, environment: ProcessInfo.processInfo.environment, input: "/proc/self/fd/\(ends[0])",
                joinsSession: true)
        }
        close(ends[1])
        let statuses = programs.map { $0.wait() }
        if let status = statuses.first(where: { $0 != 0 }) {
            throw ProcessError(description: "a process of the pipeline left status \(status)")
        }
    }
}
