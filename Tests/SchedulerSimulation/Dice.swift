import SeededNumbers

/// Random numbers as a simulation asks for them: the same seed gives the same run everywhere.
struct Dice: Sendable {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed &* 0xD1B5_4A32_D192_ED03 &+ 0x2545_F491_4F6C_DD1D)
    }

    mutating func next() -> UInt64 { generator.next() }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.upperBound - range.lowerBound + 1)
    }

    mutating func percent(_ chance: Int) -> Bool { below(100) < chance }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        precondition(!values.isEmpty, "there is nothing to choose from")
        return values[below(values.count)]
    }

    mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration { .milliseconds(number(range)) }

    /// Short times often, long ones now and then.
    mutating func skewed(upTo longest: Duration) -> Duration {
        let exponent = below(18)
        let time = Duration.milliseconds(1 + below(1 << exponent) * 100)
        return min(time, longest)
    }
}
