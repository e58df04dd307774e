import ArgumentParser
import ImageExport
import Locking

/// The value of a flag with its place among all flags, so that operations can be carried out in the order of the command line.
struct PlacedText: Sendable, Decodable {
    private static let last = Lock(0)

    let place: Int
    let text: String

    @Sendable static func parse(_ argument: String) -> PlacedText {
        PlacedText(
            place: last.withLock { last in
                last += 1
                return last
            }, text: argument)
    }
}

/// The flags that change how pictures look: a chain in the order in which they are written.
struct LookFlags: ParsableArguments {
    @Option(
        help: .init(
            """
            A file in YAML or JSON with "operations", a list of the operations below as name: value (see bgrun presets); \
            what is on the command line comes after it.
            """, valueName: "file"), completion: .file(extensions: ["yaml", "yml", "json"]))
    var preset: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            """
            Stops of light, -10 to 10. Operations are carried out in the order in which they are written. Up to the \
            last of denoise, local-contrast and deconvolve they work on the full picture before it is resized, the \
            others on the result; --sharpen comes last.
            """, valueName: "stops"), transform: PlacedText.parse)
    var exposure: [PlacedText] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("Warmer or cooler, more magenta or greener, -1 to 1 each.", valueName: "temperature[:tint]"),
        transform: PlacedText.parse)
    var whiteBalance: [PlacedText] = []

    @Option(
        parsing: .unconditionalSingleValue, help: .init("-1 to 1.", valueName: "amount"), transform: PlacedText.parse)
    var contrast: [PlacedText] = []

    @Option(
        parsing: .unconditionalSingleValue, help: .init("-1 (gray) to 4.", valueName: "amount"),
        transform: PlacedText.parse)
    var saturation: [PlacedText] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("A smooth curve through points of 0 to 1, e.g. 0:0/0.25:0.2/0.75:0.8/1:1.", valueName: "points"),
        transform: PlacedText.parse)
    var curve: [PlacedText] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            """
            Remove noise, 0 to 1, from brightness and from colours: 0.1 for noise of 4 levels of 255, 0.5 for 20.
            """, valueName: "luma[:chroma]"), transform: PlacedText.parse)
    var denoise: [PlacedText] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Detail beside edges, -1 to 3, with a reach of 0.1 to 2 per cent of the longer edge, by default 1.",
            valueName: "amount[:reach]"), transform: PlacedText.parse)
    var localContrast: [PlacedText] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            """
            Undo a blur: an amount of 0 to 1, its sigma of 0.3 to 1.6 pixels of the input (0.8), and rounds, 1 to 10 (5).
            """, valueName: "amount[:sigma[:rounds]]"), transform: PlacedText.parse)
    var deconvolve: [PlacedText] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Film grain, 0 to 1, of a size of 1 to 16 pixels; the same for the same picture and seed.",
            valueName: "amount[:size[:seed]]"), transform: PlacedText.parse)
    var grain: [PlacedText] = []

    @Option(
        parsing: .unconditional,
        help: .init(
            """
            Turn clockwise by 90, 180 or 270 degrees, or by any angle as -1.5: of the turned picture the largest part of \
            its shape without empty corners is kept. Before the crop and the resize, after what works on the full picture.
            """, valueName: "degrees"))
    var rotate: String?

    @Option(
        help: .init(
            "Keep WIDTHxHEIGHT+X+Y in pixels of the input, or the largest part of a shape such as 3:2. Sizes are of this.",
            valueName: "part"))
    var crop: String?

    @Option(help: .init("A border around the finished picture, white or of a colour.", valueName: "pixels[:RRGGBB]"))
    var border: String?

    /// The whole chain.
    ///
    /// - Throws: What is wrong with a value, or with the file.
    func operations() throws(OutputSpec.Mistake) -> [ImageOperation] {
        let flags: [(name: String, texts: [PlacedText])] = [
            ("exposure", exposure), ("white-balance", whiteBalance), ("contrast", contrast),
            ("saturation", saturation), ("curve", curve), ("denoise", denoise), ("local-contrast", localContrast),
            ("deconvolve", deconvolve), ("grain", grain),
        ]
        let written = flags.flatMap { flag in flag.texts.map { (flag.name, $0) } }.sorted { $0.1.place < $1.1.place }
        var operations: [ImageOperation] = []
        if let preset { operations = try OperationPreset.read(preset) }
        for (name, placed) in written {
            if let operation = try OutputSpec.operation(name, placed.text) { operations.append(operation) }
        }
        return operations
    }
}
