import SeededNumbers

/// Numbers that checks tend to miss.
extension SeededGenerator {
    private static let integers: [Int64] = [
        -1, 0, 1, 2, 3, 4, -2, -3, 7, 64, 255, 256, 65_535, 1 << 20, 1 << 31, -(1 << 31), (1 << 31) - 1, 1 << 32,
        1 << 40,
        1 << 61, 1 << 62, -(1 << 62), .max, .min, .max - 1, .min + 1, .max / 2, .min / 2,
    ]
    private static let floats: [Float] = [
        0, -0.0, 1, -1, 0.5, 2, -2, 1e-30, 1e30, -1e30, 1e19, -1e19, .infinity, -.infinity, .nan,
        .leastNonzeroMagnitude,
        .greatestFiniteMagnitude,
    ]

    /// Often a small change of what was there.
    mutating func integer(from old: Int64 = 0) -> Int64 {
        below(3) == 0 ? old &+ Int64(below(5)) &- 2 : Self.integers[below(Self.integers.count)]
    }

    mutating func float() -> Float { Self.floats[below(Self.floats.count)] }

    /// One element changed, added, removed, or given twice.
    mutating func change(_ list: inout [Int64]) {
        let place = below(list.count)
        switch below(6) {
        case 0: list.insert(integer(), at: place)
        case 1 where !list.isEmpty: list.remove(at: place)
        case 2 where !list.isEmpty: list.append(list[place])
        case _ where !list.isEmpty: list[place] = integer(from: list[place])
        default: list = [integer()]
        }
    }
}
