import ImageCodecs
import ImageExport
import SystemText

extension OutputSpec {
    /// The parts of a ``TextMark`` as they were given, in any order.
    struct TextParts: Hashable, Sendable {
        var text: String?
        /// A file, or a pattern of fontconfig; nil is DejaVu Sans.
        var font: String?
        var style: MarkStyle?
        var color: [UInt8]?
    }

    /// The settings with the text mark, whose font is still as it was given.
    func complete() -> OutputSpec {
        guard let line = text.text else { return self }
        var spec = self
        spec.settings.textMark = TextMark(
            text: line, font: MarkFile(path: text.font ?? "DejaVu Sans"), style: text.style ?? .text,
            color: text.color ?? [255, 255, 255])
        return spec
    }

    /// A text that goes into pictures or their metadata, where bytes that are no characters have no meaning.
    static func text(_ key: String, _ text: String) throws(Mistake) -> String {
        guard !text.holdsForeignBytes else {
            throw Mistake(description: "\(key) is a text in UTF-8, and \"\(text.shown)\" is not")
        }
        return text
    }

    static func selection(_ text: String) throws(Mistake) -> MetadataSelection {
        guard let selection = MetadataSelection(rawValue: text) else {
            let groups = MetadataGroup.allCases.map(\.rawValue).joined(separator: ", ")
            throw Mistake(
                description: """
                    metadata is keep, strip, all but some as -gps,-camera or some alone as +copyright,+artist; there are \
                    \(groups); not "\(text)"
                    """)
        }
        return selection
    }

    /// `PATH[:place[:opacity[:scale]]]`; colons of the path stay its own unless a place comes after one.
    static func pictureMark(_ text: String) throws(Mistake) -> PictureMark {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let place = parts.indices.dropFirst().last { (try? placement("", parts[$0])) != nil }
        let path = parts[..<(place ?? parts.endIndex)].joined(separator: ":")
        guard !path.isEmpty else {
            throw Mistake(description: "watermark is a picture with its place, not \"\(text)\"")
        }
        guard let place else { return PictureMark(file: MarkFile(path: path), style: .picture) }
        let style = try markStyle("watermark", parts[place...].joined(separator: ":"), from: .picture)
        return PictureMark(file: MarkFile(path: path), style: style)
    }

    /// `place[:opacity[:scale]]`.
    static func markStyle(_ key: String, _ text: String, from usual: MarkStyle) throws(Mistake) -> MarkStyle {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let numbers = parts.dropFirst().map { Double($0) }
        guard numbers.count <= 2, numbers.allSatisfy({ $0.map { (0.005...1).contains($0) } ?? false }) else {
            throw Mistake(
                description:
                    "\(key) takes place:opacity:scale, the numbers from 0.005 to 1, e.g. bottom-right:0.8:0.15, not \"\(text)\""
            )
        }
        var style = usual
        style.place = try placement(key, parts[0])
        if let opacity = numbers.first ?? nil { style.opacity = opacity }
        if numbers.count > 1, let scale = numbers[1] { style.scale = scale }
        return style
    }

    /// One line, with placeholders that are known.
    static func markText(_ text: String) throws(Mistake) -> String {
        guard !text.contains(where: \.isNewline) else { throw Mistake(description: "watermark-text is one line") }
        _ = try Self.text("watermark-text", text)
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw Mistake(description: "the text \"\(text)\" has a \"{\" without \"}\"")
            }
            let name = String(rest[rest.index(after: open)..<close])
            guard TextMark.placeholders.contains(name) else {
                let all = TextMark.placeholders.map { "{\($0)}" }.joined(separator: " ")
                throw Mistake(description: "there is no {\(name)} in texts; there are \(all)")
            }
            rest = rest[rest.index(after: close)...]
        }
        return text
    }
}
