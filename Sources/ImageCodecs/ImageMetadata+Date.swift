extension ImageMetadata {
    /// The day on which the photograph was taken, else the one on which its file was made, by EXIF (DateTimeOriginal,
    /// DateTime); nil where it says neither.
    package var day: (year: Int, month: Int, day: Int)? {
        guard let exif else { return nil }
        return exif.withUnsafeBytes { Self.day(of: $0) }
    }

    private static func day(of exif: UnsafeRawBufferPointer) -> (year: Int, month: Int, day: Int)? {
        guard let structure = TIFFStructure(exif) else { return nil }
        let first = structure.firstDirectory
        let pointer = first.first { $0.tag == 0x8769 }.flatMap { structure.number(of: $0) }
        let original = pointer.map { structure.directory(at: $0) }?.first { $0.tag == 0x9003 }
        let changed = first.first { $0.tag == 0x0132 }
        for entry in [original, changed].compactMap(\.self) {
            // "YYYY:MM:DD HH:MM:SS", blank or zero where it is not known.
            let text = String(decoding: exif[entry.value].prefix(10), as: UTF8.self)
            let parts = text.split(separator: ":").compactMap { Int($0) }
            if parts.count == 3, parts[0] > 0, (1...12).contains(parts[1]), (1...31).contains(parts[2]) {
                return (parts[0], parts[1], parts[2])
            }
        }
        return nil
    }
}
