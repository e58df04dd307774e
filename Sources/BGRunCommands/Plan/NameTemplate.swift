import ImageCodecs

/// A template for the path of an output below the output folder, e.g. `{dir}/{stem}-{size}.{ext}`.
struct NameTemplate: Hashable, Sendable {
    /// What the placeholders stand for, for one output of one input.
    struct Values {
        /// Folder of the input below the folder that was named; empty at its top.
        var folder: String
        /// File name of the input, whose ending is `{type}`.
        var inputName: String
        var format: ImageFormat
        var size: String
        /// Place of the input in the job, from 1.
        var index: Int
        var inputCount: Int
    }

    static let placeholders = ["dir", "stem", "type", "ext", "size", "index", "format"]

    private enum Part: Hashable {
        case text(String)
        case placeholder(String)
    }

    private let parts: [Part]

    init(_ text: String) throws(OutputSpec.Mistake) {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw OutputSpec.Mistake(description: "the name \"\(text)\" has a \"{\" without \"}\"")
            }
            let name = String(rest[rest.index(after: open)..<close])
            guard Self.placeholders.contains(name) else {
                let all = Self.placeholders.map { "{\($0)}" }.joined(separator: " ")
                throw OutputSpec.Mistake(description: "there is no {\(name)} in names; there are \(all)")
            }
            parts.append(.text(String(rest[..<open])))
            parts.append(.placeholder(name))
            rest = rest[rest.index(after: close)...]
        }
        parts.append(.text(String(rest)))
        // The folder tree is kept unless the template says where it goes.
        let namesFolder = parts.contains(.placeholder("dir"))
        self.parts = namesFolder ? parts : [.placeholder("dir"), .text("/")] + parts
    }

    /// Whether inputs are numbered.
    var hasIndex: Bool { parts.contains(.placeholder("index")) }

    /// The path below the output folder, or nil when it would leave it or is no name of a file.
    func path(_ values: Values) -> String? {
        var rendered = ""
        for part in parts {
            switch part {
            case .text(let text): rendered += text
            case .placeholder(let name): rendered += values[name]
            }
        }
        if values.folder.isEmpty, rendered.utf8.first == UInt8(ascii: "/") { rendered.removeFirst() }
        guard !Self.isPlain(rendered) else { return rendered }
        let components = rendered.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        guard let last = components.last, rendered.utf8.last != UInt8(ascii: "/"), last != ".",
            !rendered.utf8.contains(0),
            !components.contains("..")
        else { return nil }
        return components.filter { $0 != "." }.joined(separator: "/")
    }
}

extension NameTemplate {
    /// Whether a path is what it says as it stands: names with a slash between two, none of which begins with a dot.
    private static func isPlain(_ path: String) -> Bool {
        var isAtStart = true
        for byte in path.utf8 {
            if byte == 0 || isAtStart && (byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".")) { return false }
            isAtStart = byte == UInt8(ascii: "/")
        }
        return !isAtStart
    }
}

extension NameTemplate.Values {
    fileprivate subscript(placeholder: String) -> String {
        switch placeholder {
        case "dir": return folder
        case "stem": return Self.stem(inputName)
        case "type":
            return Self.dot(inputName).map { String(inputName[inputName.utf8.index(after: $0)...]) } ?? ""
        case "ext": return format.fileExtension
        case "size": return size
        case "format": return format.rawValue
        default:
            let digits = String(index)
            return String(repeating: "0", count: max(0, String(inputCount).count - digits.count)) + digits
        }
    }

    /// The name without its extension; a name that is all extension is kept whole.
    static func stem(_ name: String) -> String {
        dot(name).map { String(name[..<$0]) } ?? name
    }

    /// Where the extension begins, as a byte: what follows a dot may be a mark that is set above it.
    private static func dot(_ name: String) -> String.Index? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        return dot
    }
}

extension ImageFormat {
    var fileExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .png: "png"
        case .tiff: "tif"
        case .webp: "webp"
        case .avif, .heic, .gif, .jxl, .jp2, .raw: rawValue
        }
    }

    /// Endings of names, in lower case, that promise this format, of those that are written.
    var endings: Set<String> {
        switch self {
        case .jpeg: ["jpg", "jpeg", "jpe", "jfif"]
        case .png: ["png", "apng"]
        case .tiff: ["tif", "tiff"]
        case .webp, .avif, .heic, .gif, .jxl, .jp2, .raw: [fileExtension]
        }
    }

    /// The format a file of this name is written in when none was asked for: that of its name where it can be
    /// written, else JPEG. Reading goes by content; writing by name, so that a file and its extension agree.
    static func written(forInputNamed name: String) -> ImageFormat {
        switch name.utf8.lastIndex(of: UInt8(ascii: ".")).map({ name[$0...].lowercased() }) {
        case ".png": .png
        case ".webp": .webp
        case ".avif": .avif
        case ".jxl": .jxl
        default: .jpeg
        }
    }
}
