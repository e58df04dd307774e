/// The part of a JPEG's XMP that has no room in its packet, in segments of its own (XMP specification, part 3, section 1.1.3.1).
package struct ExtendedXMP: Hashable, Sendable {
    /// The digest of its bytes in 32 hexadecimal digits, by which the packet names it.
    package var digest: [UInt8]
    package var bytes: [UInt8]

    static let digestBytes = 32
    /// Digest, length of the whole, and offset of the part.
    private static let headBytes = digestBytes + 8
    private static let property = "HasExtendedXMP".utf8

    /// The packet names it.
    func isNamed(by packet: [UInt8]) -> Bool {
        packet.contains(Self.property) && packet.contains(digest)
    }

    /// Parts of one that are still to be put together.
    struct Parts {
        private static let mostDigests = 16
        private var parts: [(digest: [UInt8], length: Int, offset: Int, bytes: [UInt8])] = []

        var isEmpty: Bool { parts.isEmpty }

        /// Takes the payload of a segment behind its prefix.
        mutating func add(_ payload: [UInt8]) {
            guard payload.count > headBytes else { return }
            func number(_ start: Int) -> Int { payload[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
            parts.append(
                (
                    Array(payload.prefix(digestBytes)), number(digestBytes), number(digestBytes + 4),
                    Array(payload.dropFirst(headBytes))
                ))
        }

        /// The whole that a packet names; nil where a part is missing.
        func whole(namedBy packet: [UInt8]?) -> ExtendedXMP? {
            // Of as many as a file may have by mistake.
            let digests = Set(parts.map(\.digest)).prefix(Self.mostDigests)
            func isNamed(_ digest: [UInt8]) -> Bool {
                packet.map { ExtendedXMP(digest: digest, bytes: []).isNamed(by: $0) } ?? false
            }
            guard let digest = digests.first(where: isNamed) else { return nil }
            let own = parts.filter { $0.digest == digest }.sorted { $0.offset < $1.offset }
            var whole = ExtendedXMP(digest: digest, bytes: [])
            for part in own {
                guard part.offset == whole.bytes.count else { return nil }
                whole.bytes += part.bytes
            }
            return own.allSatisfy { $0.length == whole.bytes.count } ? whole : nil
        }
    }

    /// The payloads of its segments behind their prefix.
    func payloads(capacity: Int) -> [[UInt8]] {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 255) } }
        let room = capacity - Self.headBytes
        return stride(from: 0, to: bytes.count, by: room).map { offset in
            digest + number(bytes.count) + number(offset) + bytes[offset..<min(offset + room, bytes.count)]
        }
    }
}
