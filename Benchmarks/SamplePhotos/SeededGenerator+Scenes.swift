import SeededNumbers

extension SeededGenerator {
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
