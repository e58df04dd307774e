import ArgumentParser
import Foundation
import Inference
import SystemText
import TaskModel

/// `bgrun model`.
struct ModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Tell what an ONNX model takes, gives and needs, and whether it can be run.",
        discussion: """
            Everything that is not supported is listed at once. Extents that the model leaves open, e.g. the number of \
            pictures in a batch, are given by their names; one without a name is shown and given by its input and axis.

            EXAMPLES
              bgrun model resnet50.onnx
              bgrun model resnet50.onnx --extent batch=8
              bgrun model resnet50.onnx --json
              bgrun model resnet50.onnx --extent batch=1 --profile --trace steps.json

            EXIT STATUS
              0    the model is sound and every operator is supported
              64   the command line cannot be carried out as given
              65   the file is no ONNX model, or is damaged
              66   the model or data beside it cannot be read
              69   the model needs operators, attributes or element types that are not supported (they are listed)
              73   the trace cannot be written
            """)

    @Argument(help: .init("The model.", valueName: "model.onnx"), completion: .file(extensions: ["onnx"]))
    var path: String

    @Option(
        help: .init(
            """
            The size of an extent that the model leaves open; may be repeated. One without a name is called by its input and \
            axis, as in pixels:0=8.
            """, valueName: "name=n"))
    var extent: [String] = []

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Run it a few times on this thread, with made-up inputs, and tell where the time goes.")
    var profile = false

    @Option(
        help: .init("With --profile, write each step of each run, for a trace viewer.", valueName: "steps.json"),
        completion: .file(extensions: ["json"]))
    var trace: String?

    private var extents: [String: Int]? { Extents.parse(extent) }

    func validate() throws {
        guard extents != nil else { throw ValidationError("--extent takes a name and a number, as in batch=8") }
        guard trace == nil || profile else { throw ValidationError("--trace needs --profile") }
        guard !(json && profile) else { throw ValidationError("--json and --profile are one or the other") }
    }

    func run() throws {
        var times: ModelProfile?
        var summary: ModelSummary?
        do throws(ModelError) {
            let model = try ModelImporter().load(path: path)
            if profile {
                times = try ModelProfile(model, extents: extents ?? [:])
            } else {
                summary = try ModelSummary(model, extents: extents ?? [:])
            }
        } catch {
            let ending = WorkEnding.refused(error, path)
            StandardError.write(ending.text)
            throw ending.status.code
        }
        if let summary {
            try StandardOutput.print(json ? JSONText.encode(summary) + "\n" : ModelText.text(summary, path))
        }
        guard let times else { return }
        try StandardOutput.print(times.text())
        guard let trace else { return }
        try WholeFile.write(String(decoding: times.trace(), as: UTF8.self), to: trace, replacing: true)
    }
}

/// A summary for people.
enum ModelText {
    static func text(_ summary: ModelSummary, _ path: String) -> String {
        let opsets = summary.opsets.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        var lines = [
            "\(SystemFile.name(path)): operators of \(opsets.joined(separator: ", "))"
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
