import ArgumentParser
import Foundation
import Inference
import TaskModel

/// `bgrun model`.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Tell what an ONNX model takes, gives and needs, and whether it can be run.",
        discussion: """
            Everything that is not supported is listed at once. Extents that the model leaves open, e.g. the number of \
            pictures in a batch, are given by their names.

            EXAMPLES
              bgrun model resnet50.onnx
              bgrun model resnet50.onnx --extent batch=8
              bgrun model resnet50.onnx --json

            EXIT STATUS
              0    the model is sound and every operator is supported
              64   the command line cannot be carried out as given
              65   the file is no ONNX model, or is damaged
              66   the model or data beside it cannot be read
              69   the model needs operators, attributes or element types that are not supported (they are listed)
            """)

    @Argument(help: .init("The model.", valueName: "model.onnx"), completion: .file(extensions: ["onnx"]))
    var path: String

    @Option(help: .init("The size of an extent that the model leaves open; may be repeated.", valueName: "name=n"))
    var extent: [String] = []

    @Flag(help: "Print JSON.")
    var json = false

    private var extents: [String: Int]? { Extents.parse(extent) }

    func validate() throws {
        guard extents != nil else { throw ValidationError("--extent takes a name and a number, as in batch=8") }
    }

    func run() throws {
        do throws(ModelError) {
            let summary = try ModelSummary(try ModelImporter().load(path: path), extents: extents ?? [:])
            try? StandardOutput.print(json ? JSONText.encode(summary) + "\n" : ModelText.text(summary, path))
        } catch {
            let ending = WorkEnding.refused(error, path)
            StandardError.write(ending.text)
            throw ending.status.code
        }
    }
}

/// A summary for people.
enum ModelText {
    static func text(_ summary: ModelSummary, _ path: String) -> String {
        let opsets = summary.opsets.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        var lines = [
            "\((path as NSString).lastPathComponent): operators of \(opsets.joined(separator: ", "))"
                + (summary.producer.isEmpty ? "" : ", written by \(summary.producer)")
        ]
        lines += summary.inputs.map { "input       \(port($0))" } + summary.outputs.map { "output      \(port($0))" }
        lines.append("parameters  \(amount(summary.parameters)), \(bytes(summary.parameterBytes))")
        lines.append(
            "work        " + (summary.multiplyAdds.map { "\(amount($0)) multiply-adds" } ?? "depends on open extents"))
        lines.append(
            "values      "
                + (summary.liveBytes.map { "\(bytes($0)) at once when each is given up after its last use" }
                    ?? "depend on open extents"))
        lines.append("operators   \(summary.nodes) nodes")
        for use in summary.operators {
            let work = use.multiplyAdds.map { $0 == 0 ? "" : "  \(amount($0)) multiply-adds" } ?? ""
            lines.append(
                "  \(String(repeating: " ", count: max(0, 6 - "\(use.nodes)".count)))\(use.nodes)  \(use.name)\(work)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func port(_ port: ModelSummary.Port) -> String {
        "\(port.name)  \(port.elementType ?? "?")" + (port.shape.map { "[\($0.joined(separator: ", "))]" } ?? "[...]")
    }

    private static func amount(_ count: Int) -> String {
        let units: [(Int, String)] = [(1_000_000_000, " thousand million"), (1_000_000, " million")]
        for (unit, name) in units where count >= unit {
            return String(format: "%.1f", Double(count) / Double(unit)) + name
        }
        return "\(count)"
    }

    private static func bytes(_ count: Int) -> String {
        count >= 1_000_000
            ? String(format: "%.1f MB", Double(count) / 1e6) : String(format: "%.1f KB", Double(count) / 1e3)
    }
}
