/// Where on an output a mark is put, how large and how strong.
package struct MarkStyle: Codable, Hashable, Sendable {
    package var place: Placement
    /// 0 ... 1; 1 covers what is under it.
    package var opacity: Double
    /// Of a picture the width as a part of the output's, of a text the height of its letters as a part of the output's
    /// shorter side.
    package var scale: Double

    package static let picture = MarkStyle(place: .init(x: 1, y: 1), opacity: 0.8, scale: 0.15)
    package static let text = MarkStyle(place: .init(x: 1, y: 1), opacity: 0.7, scale: 0.035)

    package init(place: Placement, opacity: Double, scale: Double) {
        self.place = place
        self.opacity = opacity
        self.scale = scale
    }
}

/// A file that decides the bytes of outputs beside their settings.
package struct MarkFile: Codable, Hashable, Sendable {
    /// Absolute.
    package var path: String
    /// XXH3-128 of its bytes, hexadecimal; empty before it was looked at.
    package var checksum: String

    package init(path: String, checksum: String = "") {
        self.path = path
        self.checksum = checksum
    }
}

/// A picture, such as a logo, on top of each output. It may have clear parts.
package struct PictureMark: Codable, Hashable, Sendable {
    package var file: MarkFile
    package var style: MarkStyle

    package init(file: MarkFile, style: MarkStyle) {
        self.file = file
        self.style = style
    }
}

/// One line of text on top of each output.
package struct TextMark: Codable, Hashable, Sendable {
    /// With the placeholders of ``placeholders`` in braces.
    package var text: String
    package var font: MarkFile
    package var style: MarkStyle
    /// 8-bit R, G, B in sRGB.
    package var color: [UInt8]

    /// `year` and `date` are those of the photograph, and of its file where it does not say; `stem` is the file's name
    /// without extension.
    package static let placeholders = ["year", "date", "stem"]

    package init(text: String, font: MarkFile, style: MarkStyle = .text, color: [UInt8] = [255, 255, 255]) {
        self.text = text
        self.font = font
        self.style = style
        self.color = color
    }
}

extension OutputSettings {
    /// Files that the marks are made of.
    package var markFiles: [MarkFile] { [pictureMark?.file, textMark?.font].compactMap(\.self) }

    /// A gray picture stays gray under them. A logo may have colours.
    var marksAreGray: Bool { pictureMark == nil && Set(textMark?.color ?? []).count <= 1 }
}
