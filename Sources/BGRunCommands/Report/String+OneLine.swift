import SystemText

extension String {
    /// The same in one line that does nothing to a terminal: names of files may hold any character.
    var onOneLine: String {
        guard unicodeScalars.contains(where: \.isControl) else { return shown }
        return String(UnicodeScalarView(unicodeScalars.map { $0.isControl ? "\u{FFFD}" : $0 })).shown
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { properties.generalCategory == .control }
}
