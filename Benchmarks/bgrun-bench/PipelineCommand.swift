import ChunkedCompute
import ArgumentParser
import Foundation
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

    @Argument(help: "Pictures.")
    var files: [String]

    func run() throws {
        var settings = OutputSettings()
        settings.size = .longEdge(2048)
        settings.format = .jpeg
        settings.quality = 85
        let exporter = ImageExporter()
        for file in files {
            let name = (file as NSString).lastPathComponent
            let output = ExportItem.Output(settings: settings, path: "\(out)/\(name)", mayReplace: true)
            let item = ExportItem(input: file, outputs: [output], lane: .cpu, limits: DecodeLimits())
            let result = exporter.export(item) { _ in true }
            guard result.status == .good else {
                throw ProcessError(description: "\(file): \(result.failure?.reason ?? result.status.rawValue)")
            }
        }
    }
}
