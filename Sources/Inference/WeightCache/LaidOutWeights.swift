import CChecksum
import Glibc
import Locking
import OneDNNKit

/// Where a model that is being prepared takes weights from that were laid out before, and leaves those that it lays out
/// itself. Of the initialisers of its file only: they follow from the file alone, and not from extents of inputs.
package final class LaidOutWeights: Sendable {
    private let entry: WeightEntry?
    private let parts = Lock(Parts())

    private struct Parts {
        var weights: [WeightPart: PackedWeights] = [:]
        /// In the order in which the model asked for them first.
        var order: [WeightPart] = []
        var madeByteCount = 0
        var foundByteCount = 0
    }

    /// - Parameter entry: nil where there is none yet.
    package init(_ entry: WeightEntry?) { self.entry = entry }

    /// Bytes of weights that were not found and had to be laid out.
    package var madeByteCount: Int { parts.withLock(\.madeByteCount) }
    /// Bytes of weights that were found.
    package var foundByteCount: Int { parts.withLock(\.foundByteCount) }

    /// The part that lies as `target` says: from the entry, or made by `make`.
    func weights(
        _ part: WeightPart, as target: MemoryDescriptor, else make: () throws(OneDNNError) -> PackedWeights
    ) throws(OneDNNError) -> PackedWeights {
        if let known = parts.withLock({ $0.weights[part] }) { return known }
        let found = entry?.weights(part, as: target)
        let weights = if let found { found } else { try make() }
        parts.withLock { parts in
            if parts.weights.updateValue(weights, forKey: part) == nil { parts.order.append(part) }
            if found == nil {
                parts.madeByteCount += weights.byteCount
            } else {
                parts.foundByteCount += weights.byteCount
            }
        }
        return weights
    }

    /// Writes an entry of what was made, what was found, and, while there is room, of what else the entry had.
    ///
    /// - Parameters:
    ///   - descriptor: A file to be written from its beginning.
    ///   - key: Of the entry.
    ///   - limit: The most bytes.
    /// - Returns: Its length; nil where it does not fit or cannot be written.
    package func write(to descriptor: Int32, key: Digest, limit: Int) -> Int? {
        let (weights, order) = parts.withLock { ($0.weights, $0.order) }
        defer { withExtendedLifetime((weights, entry)) {} }
        var chosen: [(part: WeightPart, bytes: UnsafeRawBufferPointer)] = []
        var byteCount = WeightEntry.unit
        func fits(_ part: WeightPart, _ bytes: UnsafeRawBufferPointer) -> Bool {
            let more = WeightEntry.unit + Self.padded(bytes.count)
            guard more <= limit - byteCount else { return false }
            byteCount += more
            chosen.append((part, bytes))
            return true
        }
        for part in order {
            guard let bytes = weights[part]?.heldBytes, fits(part, bytes) else { return nil }
        }
        for part in entry?.order ?? [] where weights[part] == nil {
            if let bytes = entry?.bytes(of: part), !fits(part, bytes) { break }
        }
        return Self.write(chosen, byteCount: byteCount, key, descriptor) ? byteCount : nil
    }

    private static func padded(_ count: Int) -> Int {
        (count + WeightEntry.unit - 1) / WeightEntry.unit * WeightEntry.unit
    }

    private static func write(
        _ parts: [(part: WeightPart, bytes: UnsafeRawBufferPointer)], byteCount: Int, _ key: Digest, _ descriptor: Int32
    ) -> Bool {
        var table: [UInt8] = []
        var start = WeightEntry.unit * (1 + parts.count)
        var starts: [Int] = []
        for (part, bytes) in parts {
            table += part.digest.bytes
            let checksum = bg_xxh3_64(bytes.baseAddress, bytes.count)
            for number in [UInt64(start), UInt64(bytes.count), checksum, 0] { table.append(littleEndian: number) }
            starts.append(start)
            start += padded(bytes.count)
        }
        var header = WeightEntry.magic + key.bytes
        let checksum = bg_xxh3_64(table, table.count)
        for number in [UInt64(parts.count), UInt64(byteCount), checksum] { header.append(littleEndian: number) }
        header += table
        guard header.withUnsafeBytes({ write($0, descriptor, 0) }) else { return false }
        for ((_, bytes), start) in zip(parts, starts) where !write(bytes, descriptor, start) { return false }
        // The last part is padded too. What it was not written to may be longer already.
        return ftruncate(descriptor, off_t(byteCount)) == 0
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32, _ offset: Int) -> Bool {
        var done = 0
        while done < bytes.count, let base = bytes.baseAddress {
            let count = pwrite(descriptor, base + done, bytes.count - done, off_t(offset + done))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian number: UInt64) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
