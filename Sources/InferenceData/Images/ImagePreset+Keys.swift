extension ImagePreset {
    /// A key of a preset file, for people.
    package struct Key: Codable, Hashable, Sendable {
        package var name: String
        /// What it takes, with its range.
        package var values: String
        /// What holds where neither the file nor the preset that it begins with names it; empty where nothing does.
        package var usual: String
        package var meaning: String
    }

    /// All keys of a preset file.
    package static let keys = rows.map { row in
        Key(
            name: row.name, values: row.values, usual: ImagePreset().text(of: row.name) ?? "", meaning: row.meaning)
    }

    private static let rows: [(name: String, values: String, meaning: String)] = [
        ("preset", names.joined(separator: ", "), "The preset that the file begins with and changes."),
        ("resize", choices(Resize.self), resizeMeaning),
        ("size", "1 to \(largestSide), or WIDTHxHEIGHT", "What resize aims at, in pixels; needed by all but none."),
        (
            "crop", "1 to \(largestSide), WIDTHxHEIGHT, none",
            "The middle that is kept of what the resize gives; not with letterbox."
        ),
        ("filter", choices(Filter.self), "How pixels are averaged, as Pillow does it."),
        (
            "channels", choices(Channels.self),
            "Which colours the model sees, in its order; gray is 0.299 R + 0.587 G + 0.114 B."
        ),
        ("layout", choices(Layout.self), "Channels as planes, or side by side in each pixel."),
        ("scale", "a number or a quotient, not 0", "A value is (code * scale - mean) / std, of codes from 0 to 255."),
        ("mean", "one number, or one a channel", "Lies between 0 and 255 * scale, or it was meant for another scale."),
        ("std", "the same, above 0", "What the difference from the mean is divided by."),
        (
            "fill", "0 to 255, or [R, G, B] of these",
            "Colour under clear parts, and around a letterbox or a small crop."
        ),
        (
            "reducedDecoding", "true, false",
            "A JPEG may be decoded at 4, 2 or 1 eighths where twice the size is left: faster, other last digits."
        ),
    ]

    private static let resizeMeaning = """
        none leaves the picture as it is; shorter and longer bring that side to the size; exact takes no heed of the shape; \
        letterbox puts the largest that fits into the middle.
        """

    private static func choices<Value: RawRepresentable & CaseIterable>(_ type: Value.Type) -> String
    where Value.RawValue == String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }

    /// A file that says the same, in YAML.
    package var file: String {
        Self.keys.compactMap { key in text(of: key.name).map { "\(key.name): \($0)\n" } }.joined()
    }

    /// What a file says of a key; nil where it says nothing.
    package func text(of key: String) -> String? {
        switch key {
        case "resize": resize.rawValue
        case "size": size?.text
        case "crop": crop?.text
        case "filter": filter.rawValue
        case "channels": channels.rawValue
        case "layout": layout.rawValue
        case "scale": Self.text(scale)
        case "mean": Self.text(mean)
        case "std": Self.text(std)
        case "fill": Set(fill).count == 1 ? "\(fill[0])" : "\(fill)"
        case "reducedDecoding": "\(reducedDecoding)"
        default: nil
        }
    }

    private static func text(_ numbers: [Double]) -> String {
        let texts = numbers.map { text($0) }
        return texts.count == 1 ? texts[0] : "[\(texts.joined(separator: ", "))]"
    }

    /// A decimal number, or a quotient where that is what it came from.
    private static func text(_ number: Double) -> String {
        if number == number.rounded(), abs(number) < 0x1p53 { return "\(Int(number))" }
        let below = (1 / number).rounded()
        return below != 0 && abs(below) < 0x1p31 && 1 / below == number ? "1/\(Int(below))" : "\(number)"
    }
}

extension ImagePreset.Size {
    fileprivate var text: String { width == height ? "\(width)" : "\(width)x\(height)" }
}
