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
        guard processes == 1 else {
            let words = [Executables.own, "pipeline", "--places-from-input", "--out", out] + files
            return try ProcessTeam.run(words, processes: processes, places: files.count)
        }
        let exporter = ImageExporter()
        guard placesFromInput else {
            for file in files { try export(file, with: exporter) }
            return
        }
        while let place = ProcessTeam.nextPlace() { try export(files[place], with: exporter) }
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
}
