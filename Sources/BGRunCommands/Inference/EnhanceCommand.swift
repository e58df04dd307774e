import ArgumentParser

/// `bgrun enhance`: pictures through a model that gives pictures.
struct EnhanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enhance",
        abstract: "Send pictures through a model that makes pictures of them, e.g. for super-resolution.",
        discussion: """
            Pictures of any size go through the model tile by tile, with an overlap that leaves no seams. The model takes \
            one picture of 3 channels (red, green, blue) or 1, of 0 to 1, and gives one that is as large or a whole \
            number of times larger. Results are in sRGB and upright, and keep their metadata and in a jpeg the gain map \
            (Ultra HDR) as with bgrun export.

            The service of bgrun does the work, as with bgrun export, and the same command goes on after a stop.

            EXAMPLES
              bgrun enhance photos --model espcn-x2.onnx --out large
              bgrun enhance scan.png --model denoise.onnx --out clean --format png --bits 16
              bgrun enhance photos --model esrgan-x4.onnx --out large --tile 256 --overlap 24

            EXIT STATUS
              As bgrun export has them, and 65 for a damaged model, 69 for one that needs what is not supported.
            """)

    @Argument(help: "Pictures and folders of pictures.", completion: .file())
    var inputs: [String]

    @Option(help: .init("The model.", valueName: "model.onnx"), completion: .file(extensions: ["onnx"]))
    var model: String

    @Option(
        help: .init("Folder for the outputs; made when it is not there.", valueName: "folder"), completion: .directory)
    var out: String

    @OptionGroup var encoder: EncoderFlags

    @Option(
        help: .init(
            "Path below the output folder, made of {dir} {stem} {type} {format} {index} {ext}.", valueName: "template"))
    var name = "{stem}.{ext}"

    @Option(help: .init("Side of a tile in pixels, overlap included.", valueName: "n"))
    var tile = 192

    @Option(help: .init("How far the model looks beyond a pixel, in pixels.", valueName: "n"))
    var overlap = 16

    @OptionGroup(title: "JOB") var job: JobFlags

    @OptionGroup(title: "LIMITS") var limits: LimitFlags

    func validate() throws {
        guard !inputs.isEmpty else { throw ValidationError("name at least one picture or folder") }
        guard !out.isEmpty, !model.isEmpty, !inputs.contains("") else {
            throw ValidationError("an empty path is no file or folder")
        }
        guard (16...4096).contains(tile) else { throw ValidationError("--tile takes a number from 16 to 4096") }
        guard overlap >= 0, 2 * overlap < tile else {
            throw ValidationError("--overlap is less than half of --tile")
        }
        do {
            _ = (try spec(), try NameTemplate(name))
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() throws {
        try WorkSession.carryOut(try EnhanceWork(self), job)
    }

    /// The output of each picture.
    func spec() throws(OutputSpec.Mistake) -> OutputSpec {
        var spec = OutputSpec()
        try encoder.apply(to: &spec)
        if let contradiction = spec.contradiction { throw OutputSpec.Mistake(description: contradiction) }
        return spec
    }
}
