import ArgumentParser
import Foundation
import Glibc
import ServiceAPI
import ServiceClient
import TaskModel

/// `bgrun export`: pictures in, pictures out.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export pictures: resize, convert, sharpen, encode.",
        discussion: """
            The service of bgrun does the work, so that it goes on when this terminal closes. While you look at it it \
            has the machine; Ctrl-Z or d leave it to the background, where it stays out of your way, and bgrun attach \
            brings it back. Ctrl-C stops it cleanly.

            Inputs are files and folders (with everything below them, hidden names left out); their folder tree is \
            kept in the output folder. Progress goes to standard error. A job that was stopped or killed goes on with \
            the same command: what was finished is not done again.

            Whatever the order of the flags, a picture goes through the operations that need the full picture, --rotate, \
            --crop, --size, the other operations, --sharpen, the watermarks and --border.

            EXAMPLES
              bgrun export photos --out web --size 2048 --quality 85
              bgrun export photos --out web --output size=2048 \\
                --output size=256,format=webp,name={stem}-small.{ext}
              bgrun export a.tif b.png --out prints --size fit:3000x2000 \\
                --format png --bits 16 --sharpen 0.6:1.2
              bgrun export photos --out web --size 2048 --denoise 0.2 \\
                --exposure +0.3 --local-contrast 0.4 --saturation +0.1
              bgrun export photos --out web --size 1024 --dry-run
              bgrun export photos --out web --expire-after 15m --report report.jsonl
              bgrun export photos --out web --detach

            \(ExitStatus.help)
            """)

    @Argument(help: "Pictures and folders of pictures.", completion: .file())
    var inputs: [String]

    @Option(
        help: .init("Folder for the outputs; made when it is not there.", valueName: "folder"), completion: .directory)
    var out: String

    @OptionGroup(title: "OUTPUTS") var outputs: OutputFlags

    @OptionGroup(title: "JOB") var job: JobFlags

    @OptionGroup(title: "LIMITS") var limits: LimitFlags

    func validate() throws {
        guard !inputs.isEmpty else { throw ValidationError("name at least one picture or folder") }
        guard !out.isEmpty, !inputs.contains("") else { throw ValidationError("an empty path is no file or folder") }
        do {
            for spec in try outputs.specs() { _ = try spec.name.map { text in try NameTemplate(text) } }
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() throws {
        try WorkSession.carryOut(try ExportWork(self), job)
    }
}
