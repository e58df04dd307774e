import SchedulingCore
import SeededNumbers
import TaskModel
import Testing

@Suite struct ProgressMeterTests {
    @Test func anEvenRateGivesANarrowRange() throws {
        var meter = ProgressMeter(itemsTotal: 100, totalWeight: 1000)
        for item in 1...50 {
            meter.finished(worker: 0, weight: 10, megapixels: 24, failures: [false], at: .seconds(item))
        }
        let progress = meter.snapshot(at: .seconds(50))
        let left = try #require(progress.secondsLeft)
        #expect(abs(left.lowerBound - 50) < 1 && abs(left.upperBound - 50) < 1)
        #expect(abs(progress.megapixelsPerSecond - 24) < 0.5)
        #expect(progress.itemsDone == 50 && abs(progress.fraction - 0.5) < 1e-9)
    }

    @Test func aRateThatFellWidensTheRange() throws {
        var meter = ProgressMeter(itemsTotal: 200, totalWeight: 2000)
        var time = Duration.zero
        for item in 0..<100 {
            time += item < 90 ? .milliseconds(200) : .milliseconds(800)
            meter.finished(worker: 0, weight: 10, megapixels: 24, failures: [false], at: time)
        }
        let progress = meter.snapshot(at: time)
        let left = try #require(progress.secondsLeft)
        #expect(left.lowerBound < 50 && left.upperBound > 75)
    }

    @Test func beforeAnythingIsFinishedThereIsNoRange() {
        var meter = ProgressMeter(itemsTotal: 3, totalWeight: 30)
        let before = meter.snapshot(at: .seconds(1))
        meter.skipped(failed: false)
        let after = meter.snapshot(at: .seconds(2))
        #expect(before.secondsLeft == nil && after.secondsLeft == nil)
    }

    @Test func theFractionIsOneOnlyAtTheEndAndNeverFalls() {
        for seed in 0..<100 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 1...30, using: &random)
            let weights = (0..<count).map { _ in Double.random(in: 0...100, using: &random) }
            var meter = ProgressMeter(itemsTotal: count, totalWeight: weights.reduce(0, +))
            var last = 0.0
            for (index, weight) in weights.enumerated() {
                meter.progressed(
                    worker: 1, weight: weight, fraction: .random(in: 0...1.5, using: &random),
                    at: .milliseconds(index * 100))
                if Bool.random(using: &random) { meter.abandoned(worker: 1) }
                let before = meter.snapshot(at: .milliseconds(index * 100)).fraction
                #expect(before >= last && before < 1, "seed \(seed)")
                meter.finished(
                    worker: 1, weight: weight, megapixels: 1, failures: [false], at: .milliseconds(index * 100 + 50))
                last = meter.snapshot(at: .milliseconds(index * 100 + 50)).fraction
                #expect(last >= before, "seed \(seed)")
            }
            #expect(last == 1, "seed \(seed)")
        }
    }

    @Test func whatWasThereAlreadyIsPartOfTheFraction() {
        var meter = ProgressMeter(itemsTotal: 4, totalWeight: 20)
        for _ in 0..<2 { meter.skipped(failed: false) }
        #expect(meter.snapshot(at: .zero).fraction == 0.5)
        meter.finished(worker: 0, weight: 5, megapixels: 1, failures: [false], at: .seconds(1))
        let progress = meter.snapshot(at: .seconds(1))
        #expect(progress.fraction == 0.625)
        #expect(progress.secondsLeft == 3...3, "only what is left takes time")
    }

    @Test func longItemsThatEndAtOnceDoNotLookAsIfTheyHadTakenAMoment() throws {
        // Three workers, items of ten minutes, which end within three seconds of each other.
        var meter = ProgressMeter(itemsTotal: 30, totalWeight: 300)
        for second in stride(from: 1.0, through: 1_250, by: 1) {
            for worker in 0..<3 {
                let time = Duration.seconds(second) + .milliseconds(worker)
                let elapsed = second - Double(worker)
                let (whole, part) = (Int(elapsed / 600), elapsed.truncatingRemainder(dividingBy: 600))
                if elapsed > 0, part == 0 {
                    meter.finished(worker: worker, weight: 10, megapixels: 24, failures: [false], at: time)
                } else {
                    meter.progressed(worker: worker, weight: 10, fraction: max(part, 0) / 600, at: time)
                }
                guard second > 10 else { continue }
                let left = try #require(meter.snapshot(at: time).secondsLeft, "after \(second) s, in item \(whole)")
                let wanted = 6_000 - second
                #expect(left.lowerBound > wanted * 0.8 && left.upperBound < wanted * 1.25, "after \(second) s: \(left)")
            }
        }
    }

    @Test func failuresAreCountedAmongTheDone() {
        var meter = ProgressMeter(itemsTotal: 2, totalWeight: 2)
        meter.skipped(failed: true)
        meter.finished(worker: 0, weight: 2, megapixels: 0, failures: [true], at: .seconds(1))
        let progress = meter.snapshot(at: .seconds(1))
        #expect(progress.itemsDone == 2 && progress.failures == 2 && progress.fraction == 1)
    }

    @Test func shortItemsLeaveAsFewSamplesAsLongOnesAndTheSameRates() throws {
        var most = 0
        var meter = ProgressMeter(itemsTotal: 400_000, totalWeight: 4_000_000)
        for item in 1...200_000 {
            meter.finished(worker: item % 2, weight: 10, megapixels: 0.5, failures: [false], at: .milliseconds(item))
            most = max(most, meter.sampleCount)
        }
        #expect(most <= 64 + 2 * 60 * 4 + 2, "twice as many as there are grains in the longest span, and the tolerance")
        let progress = meter.snapshot(at: .seconds(200))
        let left = try #require(progress.secondsLeft)
        #expect(abs(left.lowerBound - 200) < 2 && abs(left.upperBound - 200) < 2)
        #expect(abs(progress.megapixelsPerSecond - 500) < 25)
    }
}
