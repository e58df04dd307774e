import ArgumentParser
import Foundation
import Glibc
import Synchronization

/// `bgrun-bench probe`: what a person's own programs feel of the machine. Started by other commands in a session of its own.
struct ProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Work as a person's programs do, and print how it went as JSON.",
        shouldDisplay: false)

    enum Kind: String, ExpressibleByArgument {
        /// A short item of work, again and again.
        case latency
        /// All that the processors give.
        case throughput
    }

    @Argument var kind: Kind
    @Option var seconds = 5.0
    @Option var threads = 2
    @Flag(help: "At the lowest weight of an autogroup.") var lowest = false
    @Option(help: "Rounds of an item of work, which takes two milliseconds alone.")
    var rounds: UInt64

    static let itemMilliseconds = 2.0
    private static let period: Duration = .milliseconds(20)

    struct Latencies: Codable {
        /// Of each item, from the moment it was due to its end.
        var milliseconds: [Double]
    }

    struct Throughput: Codable {
        /// Items of work for each second of wall time, all threads together.
        var itemsPerSecond: Double
    }

    /// Whether a session's weight can be set on this machine.
    static var canBeLowest: Bool {
        (try? String(contentsOfFile: "/proc/sys/kernel/sched_autogroup_enabled", encoding: .utf8)) == "1\n"
    }

    func run() throws {
        if lowest { try Data("19".utf8).write(to: URL(fileURLWithPath: "/proc/self/autogroup")) }
        switch kind {
        case .latency: try Self.print(latencies())
        case .throughput: try Self.print(throughput())
        }
    }

    private static func print(_ result: some Encodable) throws {
        Swift.print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    }

    private func latencies() -> Latencies {
        let clock = SuspendingClock()
        var due = clock.now
        var times: [Double] = []
        for item in 1...max(Int(seconds / (Self.period / .seconds(1))), 1) {
            due += Self.period
            // The period is a multiple of the kernel's tick: without this a probe would meet it at one place only.
            if item.isMultiple(of: 20) { due += .milliseconds(1) }
            let wait = clock.now.duration(to: due) / .microseconds(1)
            if wait > 0 { usleep(UInt32(wait)) }
            Self.spin(rounds)
            times.append(due.duration(to: clock.now) / .milliseconds(1))
            // One that came much too late is one late item, not many.
            due = max(due, clock.now - Self.period)
        }
        return Latencies(milliseconds: times)
    }

    private func throughput() -> Throughput {
        let items = Atomic<Int>(0)
        let clock = SuspendingClock()
        let begin = clock.now
        let end = begin + .seconds(seconds)
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            while clock.now < end {
                Self.spin(rounds / 10)
                items.add(1, ordering: .relaxed)
            }
        }
        let taken = begin.duration(to: clock.now) / .seconds(1)
        return Throughput(itemsPerSecond: Double(items.load(ordering: .relaxed)) / 10 / taken)
    }

    /// Rounds that take as long as an item should, on a processor of its own.
    static func calibrate() -> UInt64 {
        let rounds: UInt64 = 1_000_000
        let clock = SuspendingClock()
        let best = (0..<50).map { _ in clock.measure { spin(rounds) } / .milliseconds(1) }.min() ?? itemMilliseconds
        return UInt64(Double(rounds) * itemMilliseconds / best)
    }

    @inline(never)
    private static func spin(_ rounds: UInt64) {
        var value = rounds | 1
        for _ in 0..<rounds { value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407 }
        sink.store(value, ordering: .relaxed)
    }

    private static let sink = Atomic<UInt64>(0)
}
