package import ImageCodecs

/// Sets the lines under tiles.
package final class Captions {
    /// Parts of a line's height: of the letters, and of what is above the line that they stand on.
    private static let (letters, ascent) = (0.62, 0.72)
    private static let omission = "..."
    /// What is looked for among the installed fonts.
    package static let font = "DejaVu Sans"

    /// Pixels an em; whether a font has a letter does not depend on it.
    private static let trialSize = 8
    /// Stands for what cannot be set.
    private static let substitute: Unicode.Scalar = "?"

    private let face: Typeface
    /// Of the letters that were asked for, whether the font has them.
    private var known: [Unicode.Scalar: Bool] = [:]

    /// - Throws: ``ExportFailure`` where the file cannot be read or is no scalable font, or FreeType is not installed.
    package init(font path: String, limits: DecodeLimits, pulse: CodecPulse) throws {
        face = try Typeface(path: path, limits: limits, pulse: pulse)
    }

    /// A line in the middle of a room; a long one loses letters of its middle. Letters that the font lacks, and control
    /// characters, become question marks.
    ///
    /// - Parameters:
    ///   - text: The line.
    ///   - room: Left edge, top edge, width and height in pixels of the page.
    ///   - color: 8-bit R, G, B.
    /// - Returns: nil where nothing can be set.
    func mark(_ text: String, in room: (x: Int, y: Int, width: Int, height: Int), color: [UInt8]) -> Mark? {
        guard let line = fitting(settable(text), width: room.width, pixelSize: size(room.height)),
            line.height <= room.height
        else { return nil }
        let baseline = Int((Double(room.height) * Self.ascent).rounded())
        let y = max(0, min(baseline - line.baseline, room.height - line.height))
        return Mark(
            x: room.x + (room.width - line.width) / 2, y: room.y + y, width: line.width, height: line.height,
            samples: line.samples(color: color))
    }

    private func size(_ height: Int) -> Int { max(4, Int((Double(height) * Self.letters).rounded())) }

    private func fitting(_ text: String, width: Int, pixelSize: Int) -> Typeface.Line? {
        var kept = text.count
        while kept > 0 {
            let front = text.prefix((kept + 1) / 2)
            let shown = kept == text.count ? text : front + Self.omission + text.suffix(kept - front.count)
            guard let line = try? face.line(shown, pixelSize: pixelSize) else { return nil }
            if line.width <= width { return line }
            kept = min(kept - 1, kept * width / line.width)
        }
        return nil
    }

    private func settable(_ text: String) -> String {
        let hasControls = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        if !hasControls, (try? face.line(text, pixelSize: Self.trialSize)) != nil { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isSettable($0) ? $0 : Self.substitute }))
    }

    private func isSettable(_ letter: Unicode.Scalar) -> Bool {
        // Some fonts have glyphs for them.
        guard letter.properties.generalCategory != .control else { return false }
        if let answer = known[letter] { return answer }
        // Beside another letter, since a space alone has nothing to be seen.
        let trial = String(String.UnicodeScalarView([Self.substitute, letter]))
        let answer = (try? face.line(trial, pixelSize: Self.trialSize)) != nil
        known[letter] = answer
        return answer
    }
}
