/// SplitMix64: the same seed gives the same numbers on every machine.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func uniform(_ range: ClosedRange<Float>) -> Float {
        let unit = Float(next() >> 40) * (1 / 16_777_216)
        return range.lowerBound + (range.upperBound - range.lowerBound) * unit
    }

    mutating func integer(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// True with the probability `chance`.
    mutating func happens(_ chance: Float) -> Bool { uniform(0...1) < chance }
}

/// Mixes a lattice point with a salt (lowbias32 of Chris Wellons' hash prospector).
@inline(__always)
func hash32(_ value: UInt32) -> UInt32 {
    var h = value
    h = (h ^ (h >> 16)) &* 0x7FEB_352D
    h = (h ^ (h >> 15)) &* 0x846C_A68B
    return h ^ (h >> 16)
}
