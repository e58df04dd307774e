import Foundation
import Glibc
import ImageCodecs
import ImageExport
import SystemText
import TaskStore

/// Finds outputs that would land outside the output folder through links that stand inside it.
struct OutputFolderGuard {
    var folder: String

    /// Looks at the folders of some outputs.
    func violations(_ paths: [String]) -> [PlanRefusal] { violations(ofFolders: paths.map(Self.parent)) }

    func violations(ofFolders folders: [String]) -> [PlanRefusal] {
        // What is not there yet has no links, and what cannot be opened is found again when the job begins.
        guard let root = try? OutputFolder(path: folder, making: false) else { return [] }
        var refusals: [PlanRefusal] = []
        var seen: Set<PathKey> = [PathKey(folder)]
        for parent in folders where seen.insert(PathKey(parent)).inserted {
            guard let wayOut = root.violation(inPath: parent) else { continue }
            refusals.append(
                .init(code: "leavesFolder", sentence: "\(wayOut) is a link that leads out of the output folder"))
        }
        return refusals
    }

    static func parent(_ path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The path without links; nil when nothing is there.
    static func resolved(_ path: String) -> String? {
        guard let real = realpath(path.systemBytes, nil) else { return nil }
        defer { free(real) }
        return String(system: real)
    }
}

/// What stands at the path of an output.
struct ExistingFile {
    var identity: FileIdentity
    var key: FileKey
    var isRegular: Bool

    init?(_ path: String) {
        var status = stat()
        guard lstat(path.systemBytes, &status) == 0 else { return nil }
        isRegular = status.st_mode & S_IFMT == S_IFREG
        identity = FileIdentity(status)
        key = FileKey(status)
    }
}

/// Looks at the first bytes of a file.
enum ContentCheck {
    static func looksLikePicture(_ path: String) -> Bool {
        let fd = open(path.systemBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        // What cannot be read stays in, so that it is reported.
        guard fd >= 0 else { return true }
        defer { close(fd) }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            let count = read(fd, buffer.baseAddress, buffer.count)
            guard count > 0 else { return count < 0 }
            return CodecRegistry.detect(UnsafeRawBufferPointer(rebasing: buffer[..<count])) != nil
        }
    }
}

/// Settings as the journal compares them: JSON with sorted keys, made once for each output and format.
struct SettingsText {
    private let texts: [[ImageFormat: String]]

    init(_ settings: [OutputSettings]) {
        texts = settings.map { settings in
            var texts: [ImageFormat: String] = [:]
            for format in ImageFormat.allCases {
                var settings = settings
                settings.format = format
                texts[format] = JSONText.encode(settings)
            }
            return texts
        }
    }

    func text(_ spec: Int, _ format: ImageFormat) -> String { texts[spec][format] ?? "" }
}

/// JSON in one line with sorted keys.
enum JSONText {
    static func encode(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else {
            preconditionFailure("\(type(of: value)) has a value that JSON cannot hold")
        }
        return escaped(String(decoding: data, as: UTF8.self))
    }

    /// The same JSON, with the characters that stand for bytes which are not UTF-8 written as escapes: a text output would
    /// show them to a person.
    private static func escaped(_ json: String) -> String {
        guard json.holdsForeignBytes else { return json }
        return json.unicodeScalars.reduce(into: "") { text, scalar in
            guard let byte = ForeignBytes.byte(scalar) else { return text.unicodeScalars.append(scalar) }
            text += "\\udbff\\ude" + String(byte, radix: 16)
        }
    }
}
