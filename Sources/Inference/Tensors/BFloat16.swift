/// The upper half of a float32: 8 bits of exponent, 7 of fraction.
package struct BFloat16: BitwiseCopyable, Sendable {
    package var bitPattern: UInt16

    package init(bitPattern: UInt16) {
        self.bitPattern = bitPattern
    }

    /// The nearest value, ties to even; NaN stays NaN.
    package init(_ value: Float) {
        let bits = value.bitPattern
        if value.isNaN {
            bitPattern = UInt16(truncatingIfNeeded: bits >> 16) | 0x0040
        } else {
            let half = 0x7FFF + ((bits >> 16) & 1)
            bitPattern = UInt16(truncatingIfNeeded: (bits &+ half) >> 16)
        }
    }

    package var float: Float { Float(bitPattern: UInt32(bitPattern) << 16) }
}
