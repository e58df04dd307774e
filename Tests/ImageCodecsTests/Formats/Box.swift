/// Boxes of a length, a kind of four letters, and content (ISO/IEC 14496-12, 4.2), as JPEG 2000, JPEG XL and HEIF have them.
enum Box {
    static func of(_ kind: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count + 8, 4) + Array(kind.utf8) + content
    }

    /// A number of so many bytes, the highest first.
    static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: $0 < 8 ? value >> ($0 * 8) : 0) }
    }
}
