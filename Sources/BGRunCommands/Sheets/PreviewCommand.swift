import ArgumentParser
import ImageExport

/// `bgrun preview`: what an export would make of one picture, to look at.
struct PreviewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Make one picture to look at of what an export would do, beside the picture as it is.",
        discussion: """
            All flags of bgrun export that describe an output hold here. With --before-after the picture as it is, only \
            resized, is on the left or on top, and beside or below it what the flags make of it. Without --size the \
            longer edge of the whole is about \(Preview.longEdge) pixels; sharpening and grain are then those of the \
            preview's pixels.

            EXAMPLES
              bgrun preview a.jpg --before-after --denoise 0.2 --exposure +0.3 \\
                --local-contrast 0.4 --out look.jpg
              bgrun preview a.jpg --rotate -1.5 --crop 3:2 --out straight.jpg
              bgrun preview a.jpg --before-after --preset look.yaml --size 2048 --out look.png

            EXIT STATUS
              0    the picture was made
              64   the command cannot be carried out as given
              65   the input is damaged or could not be done
              66   the input does not exist
              69   a library of a format or a font is missing
              73   the output exists already or cannot be made; 74: writing failed
            """)

    @Argument(help: .init("The picture.", valueName: "file"), completion: .file())
    var input: String

    @Option(
        help: .init("Where the preview goes; its name tells the format.", valueName: "out.jpg"), completion: .file())
    var out: String

    @Flag(help: "Show the picture as it is, only resized, beside the result.")
    var beforeAfter = false

    @Flag(help: "Leave out the words under the two.")
    var noCaptions = false

    @Flag(help: "Replace the file that is there.")
    var force = false

    @Flag(help: "Print what was made, or why nothing was, as JSON on standard output.")
    var json = false

    @OptionGroup(title: "OUTPUT") var output: OutputFlags

    @OptionGroup(title: "LIMITS") var limits: LimitFlags

    func validate() throws {
        guard !input.isEmpty, !out.isEmpty else { throw ValidationError("an empty path is no file") }
        guard output.output.isEmpty, output.outputs == nil, output.name == nil else {
            throw ValidationError("a preview is of one output; leave out --output, --outputs and --name")
        }
        do {
            let spec = try spec()
            if beforeAfter {
                guard spec.settings.colorSpace != .keep else {
                    throw ValidationError("--before-after needs --color srgb or display-p3")
                }
                guard spec.settings.bitsPerChannel ?? 8 == 8 else {
                    throw ValidationError("--before-after has 8 bits a channel")
                }
            }
        } catch let mistake as OutputSpec.Mistake {
            throw ValidationError("\(mistake)")
        }
    }

    func run() throws {
        try Preview(self).make()
    }

    /// The one output, in the format of the preview.
    func spec() throws(OutputSpec.Mistake) -> OutputSpec {
        guard var spec = try output.specs().first else { preconditionFailure("flags describe an output") }
        spec.settings.format = try SheetOutput(out, format: spec.settings.format, replaces: force).format
        if let contradiction = spec.contradiction { throw OutputSpec.Mistake(description: contradiction) }
        return spec
    }
}
