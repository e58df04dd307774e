import Foundation
import Testing

/// The source itself: a path that a person may name reaches a system call as its bytes.
@Suite struct SystemCallTests {
    /// Rooms whose paths a person names; the others open files of the system, and of bgrun's own folders.
    private static let rooms = [
        "BGRunCommands", "BackgroundInference", "BackgroundService/Processes", "Confinement", "DescribedFile",
        "ImageCodecs", "ImageExport", "Inference/Import", "InferenceData", "SystemText", "TaskStore",
    ]

    private static let calls =
        "open|stat|lstat|access|opendir|realpath|mkdir|rmdir|unlink|statvfs|chmod|readlink|symlink"

    /// Calls with a first argument that is neither bytes nor a literal; what has a label is a call of another kind.
    private static func offences(in text: String) throws -> [Substring] {
        let call = try Regex("(?:^|[^.\\w])(?:Glibc\\.)?(?:\(calls))\\((?=[a-zA-Z(\"])(?!\\w+: )")
        return text.split(separator: "\n").filter { line in
            let code = line.drop { $0 == " " }
            guard !code.hasPrefix("//"), !code.contains("func "), !code.contains("try open("),
                let match = code.firstMatch(of: call)
            else { return false }
            let rest = code[match.range.upperBound...]
            guard rest.first == "\"" else { return !rest.contains(".systemBytes") }
            // A literal with something filled in is no constant.
            let literal = rest.dropFirst().prefix { $0 != "\"" }
            return literal.contains("\\(") && !rest.contains(".systemBytes")
        }
    }

    @Test func everyPathIsHandedOverAsItsBytes() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
        var files = 0
        for room in Self.rooms {
            let folder = sources.appending(path: room).path(percentEncoded: false)
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder) where name.hasSuffix(".swift") {
                let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
                files += 1
                // These look for devices by constants, and name folders of their own.
                if name.hasSuffix("ComputeOffer.swift") { continue }
                #expect(try Self.offences(in: text).isEmpty, "\(room)/\(name)")
            }
        }
        #expect(files > 100)
    }

    @Test func aPathThatIsAStringIsFound() throws {
        for line in [
            "let a = open(path, O_RDONLY)", "if stat(\"\\(folder)/x\", &status) == 0 {", "Glibc.open(folder, 0)",
        ] {
            #expect(try Self.offences(in: line).count == 1, "\(line)")
        }
        for line in [
            "open(path.systemBytes, O_RDONLY)", "open(\"/dev/null\", 0)", "var status = stat()", "file.open(path)",
            "// open(path)", "func open(_ path: String)",
        ] {
            #expect(try Self.offences(in: line).isEmpty, "\(line)")
        }
    }
}
