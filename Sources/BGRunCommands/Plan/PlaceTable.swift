/// Finds places in a list by what stands there, in sixteen bytes a place at most, whatever that is: who has the list
/// compares.
package struct PlaceTable: Sendable {
    /// A place and one, below 32 bits of a hash; 0 where there is none.
    private var slots: [UInt64] = []

    package init() {}

    package private(set) var count = 0
    /// How often two places were compared, which grows with the places as they do.
    package private(set) var comparisons = 0

    /// Keeps a place, unless there is one like it.
    ///
    /// - Parameters:
    ///   - place: Less than 2^32.
    ///   - hash: Equal for places that are alike.
    ///   - isLike: Whether a place that is there is like this one.
    /// - Returns: The place that is like it; nil where it was kept.
    package mutating func insert(_ place: Int, hash: Int, isLike: (Int) -> Bool) -> Int? {
        if count * 2 >= slots.count { grow() }
        let (slot, found) = look(for: hash, isLike)
        guard found == nil else { return found }
        slots[slot] = UInt64(truncatingIfNeeded: hash) << 32 | UInt64(place + 1)
        count += 1
        return nil
    }

    /// The place that is like another; nil where there is none.
    package mutating func place(hash: Int, isLike: (Int) -> Bool) -> Int? {
        slots.isEmpty ? nil : look(for: hash, isLike).found
    }

    private mutating func look(for hash: Int, _ isLike: (Int) -> Bool) -> (slot: Int, found: Int?) {
        let high = UInt64(truncatingIfNeeded: hash) << 32
        var slot = Self.first(high, of: slots.count)
        while slots[slot] != 0 {
            if slots[slot] & ~0xFFFF_FFFF == high {
                comparisons += 1
                let place = Int(slots[slot] & 0xFFFF_FFFF) - 1
                if isLike(place) { return (slot, place) }
            }
            slot = slot + 1 == slots.count ? 0 : slot + 1
        }
        return (slot, nil)
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: 0, count: max(1024, old.count * 2))
        for kept in old where kept != 0 {
            var slot = Self.first(kept & ~0xFFFF_FFFF, of: slots.count)
            while slots[slot] != 0 { slot = slot + 1 == slots.count ? 0 : slot + 1 }
            slots[slot] = kept
        }
    }

    /// Where to look first, of a number of slots that is a power of two.
    private static func first(_ high: UInt64, of count: Int) -> Int { Int(((high >> 32) &* UInt64(count)) >> 32) }
}

extension PlaceTable {
    /// A hash of a text's bytes.
    package static func hash(_ text: String) -> Int {
        var text = text
        var hasher = Hasher()
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }
}
