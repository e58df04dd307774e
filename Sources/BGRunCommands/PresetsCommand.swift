import ArgumentParser
import InferenceData

/// `bgrun presets`: what `--preset` takes.
struct PresetsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "presets",
        abstract: "List the presets of bgrun infer, and every key of a preset file with its meaning and range.",
        discussion: """
            A preset of bgrun infer says how pictures become the input of a model; one of bgrun export is a list of \
            operations. Both may be files of yours, in YAML or JSON.

            EXAMPLES
              bgrun presets
              bgrun presets yolo > mine.yml          # a file to begin with
              bgrun infer model.onnx photos --out found --preset mine.yml
              bgrun presets --json

              # mine.yml: imagenet, but for its size
              preset: imagenet
              size: 232

              # look.yml, for bgrun export --preset
              operations:
                - exposure: 0.3
                - local-contrast: 0.4
            """)

    @Argument(
        help: .init("Print this preset of bgrun infer as a file.", valueName: "preset"),
        completion: .list(ImagePreset.names))
    var name: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard let name, !ImagePreset.names.contains(name) else { return }
        throw ValidationError("\"\(name)\" is no preset; they are \(ImagePreset.names.joined(separator: ", "))")
    }

    func run() throws {
        var document = PresetsDocument()
        if let name {
            document.infer.presets.removeAll { $0.name != name }
            guard json else { return try StandardOutput.print(document.infer.presets.map(\.file).joined()) }
        }
        try StandardOutput.print(json ? JSONText.encode(document) + "\n" : document.text)
    }
}

/// All that is known of presets.
struct PresetsDocument: Encodable {
    struct Infer: Encodable {
        /// Built into the program.
        var presets = ImagePreset.builtIn.map { Preset(name: $0.key, file: $0.value.file) }
        var keys = ImagePreset.keys.map {
            Key(key: $0.name, values: $0.values, default: $0.usual, meaning: $0.meaning)
        }
    }

    struct Export: Encodable {
        var keys = [
            Key(key: "operations", values: "a list", default: "", meaning: "Operations, carried out in this order.")
        ]
        /// What the list is made of, each `name: values`.
        var operations = OutputSpec.operationNames.map { name in
            Key(
                key: name, values: OutputSpec.values(of: name), default: OutputSpec.defaults(of: name),
                meaning: PresetsDocument.meanings[name] ?? "")
        }
    }

    struct Preset: Encodable {
        var name: String
        /// The file that says the same.
        var file: String
    }

    struct Key: Encodable {
        var key: String
        var values: String
        var `default`: String
        var meaning: String
    }

    /// Raised when a field changes its meaning or goes away.
    let version = 1
    var infer = Infer()
    var export = Export()

    /// What each operation does.
    static let meanings = [
        "exposure": "Stops of light.",
        "white-balance": "Temperature (warmer above 0) and tint (more magenta above 0).",
        "contrast": "Steeper or flatter around the middle.",
        "saturation": "More or less colour; -1 is gray.",
        "curve": "A smooth curve through points, e.g. 0:0/0.25:0.2/0.75:0.8/1:1.",
        "denoise": "Less noise, in luma and in chroma.",
        "local-contrast": "Detail beside edges, with a reach in per cent of the longer edge.",
        "deconvolve": "Undoes a blur: amount, its sigma in pixels of the input, rounds.",
        "grain": "Film grain: amount, size in pixels, seed.",
    ]

    var text: String {
        var lines = ["PRESETS of bgrun infer --preset"]
        for preset in infer.presets {
            lines.append("  \(preset.name)")
            lines += preset.file.split(separator: "\n").map { "    \($0)" }
        }
        lines += ["", "KEYS of a file for bgrun infer --preset"] + infer.keys.flatMap(Self.lines)
        lines += ["", "KEYS of a file for bgrun export --preset"] + export.keys.flatMap(Self.lines)
        lines += ["", "OPERATIONS of that list, each as name: values"] + export.operations.flatMap(Self.lines)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(_ key: Key) -> [String] {
        let usual = key.default.isEmpty ? "" : "; by default \(key.default)"
        return ["  \(key.key): \(key.values)\(usual)", "      \(key.meaning)"]
    }
}
