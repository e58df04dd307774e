import CChecksum
import Glibc
import OneDNNKit

/// The weights of one model as the processor's primitives want them, in a file that processes share.
///
/// A header of 64 bytes: magic, key, the numbers of parts and of bytes, and the XXH3-64 of the table that follows. The
/// table has 64 bytes for each part: its ``WeightPart``, where it begins, its length, its XXH3-64, and zeros. Numbers have
/// 64 bits, little-endian; parts begin at multiples of 64. Everything is held against the length of the file before it is
/// used, and against what the reader's own plan wants: who asks for a part says how long it is and computes its name.
package final class WeightEntry: Sendable {
    /// Names the layout; a new layout gets a new one.
    static let magic = Array("bgrunLW1".utf8)
    /// Of the header, of a row of the table, and what parts begin at a multiple of.
    static let unit = 64

    struct Place: Hashable {
        var start: Int
        var byteCount: Int
        var checksum: UInt64
    }

    private let mapping: Mapping
    let places: [WeightPart: Place]

    /// Maps an entry, which then needs its descriptor no more.
    ///
    /// - Returns: nil for a file that is not whole, or not the one for `key`.
    package init?(descriptor: Int32, key: Digest) {
        guard let mapping = Mapping(descriptor), let places = Self.places(mapping.bytes, key) else { return nil }
        self.mapping = mapping
        self.places = places
    }

    /// The places of all parts; nil where anything in header and table is not as it has to be.
    static func places(_ bytes: UnsafeRawBufferPointer, _ key: Digest) -> [WeightPart: Place]? {
        func number(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        guard bytes.count >= unit, bytes[..<8].elementsEqual(magic), bytes[8..<40].elementsEqual(key.bytes),
            let count = Int(exactly: number(40)), count <= bytes.count / unit - 1,
            number(48) == UInt64(bytes.count)
        else { return nil }
        let end = unit * (1 + count)
        let table = UnsafeRawBufferPointer(rebasing: bytes[unit..<end])
        guard bg_xxh3_64(table.baseAddress, table.count) == number(56) else { return nil }
        var places: [WeightPart: Place] = [:]
        for row in stride(from: unit, to: end, by: unit) {
            guard let start = Int(exactly: number(row + 32)), let length = Int(exactly: number(row + 40)),
                start >= end, start % unit == 0, start <= bytes.count, length <= bytes.count - start
            else { return nil }
            places[WeightPart(digest: Digest(held: bytes[row..<(row + 32)]))] = Place(
                start: start, byteCount: length, checksum: number(row + 48))
        }
        return places.count == count ? places : nil
    }

    /// All parts as they lie.
    var order: [WeightPart] { places.keys.sorted { (places[$0]?.start ?? 0) < (places[$1]?.start ?? 0) } }

    /// A part that lies as `target` says, its bytes verified.
    ///
    /// - Returns: nil where there is none, or one that is damaged or of another length.
    func weights(_ part: WeightPart, as target: MemoryDescriptor) -> PackedWeights? {
        guard let bytes = bytes(of: part) else { return nil }
        return try? PackedWeights(lying: bytes, in: mapping, as: target)
    }

    /// Whether every part is what was written.
    var isSound: Bool { places.keys.allSatisfy { bytes(of: $0) != nil } }

    /// The bytes of a part, while this is held; nil where there is none, or it is damaged.
    func bytes(of part: WeightPart) -> UnsafeRawBufferPointer? {
        guard let place = places[part] else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: mapping.bytes[place.start...].prefix(place.byteCount))
        return bg_xxh3_64(bytes.baseAddress, bytes.count) == place.checksum ? bytes : nil
    }
}

extension WeightPart {
    init(digest: Digest) { self.digest = digest }
}

extension Digest {
    /// One that is there already, in as many bytes as it has.
    init(held bytes: Slice<UnsafeRawBufferPointer>) {
        precondition(bytes.count == Self.byteCount, "a digest has \(Self.byteCount) bytes")
        self.bytes = Array(bytes)
    }
}

/// A file in memory, to be read only; its pages are those of every other process that maps it.
///
/// `@unchecked Sendable` is true because nobody writes there. Entries stay as they are from when they have their name.
final class Mapping: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            return nil
        }
        let count = Int(status.st_size)
        // All pages at once: one by one they cost several times as much.
        let start = mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0)
        guard let start, start != MAP_FAILED else { return nil }
        bytes = UnsafeRawBufferPointer(start: start, count: count)
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}
