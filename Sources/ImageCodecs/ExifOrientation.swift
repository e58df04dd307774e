/// Finds the orientation in a TIFF-structured EXIF block without decoding the rest of it.
enum ExifOrientation {
    /// 1 ... 8; 1 when absent or invalid.
    static func read(_ exif: [UInt8]) -> Int {
        guard exif.count >= 14 else { return 1 }
        let isLittle: Bool
        switch (exif[0], exif[1]) {
        case (0x49, 0x49): isLittle = true
        case (0x4D, 0x4D): isLittle = false
        default: return 1
        }
        func value(at offset: Int, bytes: Int) -> Int? {
            guard offset >= 0, offset + bytes <= exif.count else { return nil }
            let field = exif[offset..<offset + bytes]
            let digits = isLittle ? Array(field.reversed()) : Array(field)
            return digits.reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = value(at: 4, bytes: 4), let entries = value(at: directory, bytes: 2) else { return 1 }
        for entry in 0..<entries {
            let offset = directory + 2 + entry * 12
            guard let tag = value(at: offset, bytes: 2) else { return 1 }
            guard tag == 0x0112 else { continue }
            // Type 3 is a 16-bit value in the first half of the value field; some writers use type 4, 32 bits.
            let type = value(at: offset + 2, bytes: 2)
            let orientation = value(at: offset + 8, bytes: type == 4 ? 4 : 2) ?? 1
            return (1...8).contains(orientation) ? orientation : 1
        }
        return 1
    }
}
