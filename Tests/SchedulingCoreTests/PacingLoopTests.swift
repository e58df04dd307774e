import Foundation
import SchedulingCore
import SeededNumbers
import TaskModel
import Testing

/// The pacer and the machine that it paces, as one loop: our own work is among what presses.
@Suite struct PacingLoopTests {
    /// Threads that work for a chunk and rest by their duty cycle, on cores that are shared evenly, and the pressure
    /// that Linux would tell of it: the share of time in which some thread waits for a core, averaged over ten seconds
    /// and brought up to date every two.
    private struct BusyMachine {
        private struct Worker {
            var job: Int
            /// Seconds of processor time left of its chunk; nil while it rests.
            var left: Double?
            var chunkBegan = 0
            var restsUntil = 0
        }

        static let tick: Duration = .milliseconds(5)
        private static let chunk = 0.05
        let cores: Int
        /// Threads of others that never rest.
        var foreign = 0
        private var workers: [Worker] = []
        private var ticks = 0
        private var ticksWaited = 0
        private(set) var pressure = 0.0
        private(set) var ownSeconds = 0.0

        init(cores: Int) { self.cores = cores }

        mutating func run(_ terms: [RunTerms], for time: Duration, _ random: inout SeededGenerator) {
            for (job, terms) in terms.enumerated() {
                let count = workers.count { $0.job == job }
                if count > terms.concurrency {
                    let extra = workers.indices.filter { workers[$0].job == job }.suffix(count - terms.concurrency)
                    for index in extra.reversed() { workers.remove(at: index) }
                }
                for _ in 0..<max(terms.concurrency - count, 0) {
                    workers.append(Worker(job: job, left: Self.chunk, chunkBegan: ticks))
                }
            }
            for _ in 0..<Int(time / Self.tick) { step(terms, &random) }
        }

        private mutating func step(_ terms: [RunTerms], _ random: inout SeededGenerator) {
            for index in workers.indices where workers[index].left == nil && workers[index].restsUntil <= ticks {
                workers[index].left = Self.chunk * Double.random(in: 0.8...1.2, using: &random)
                workers[index].chunkBegan = ticks
            }
            let busy = workers.count { $0.left != nil } + foreign
            let speed = min(1, Double(cores) / Double(max(busy, 1)))
            ticksWaited += busy > cores ? 1 : 0
            ticks += 1
            for index in workers.indices {
                guard let left = workers[index].left else { continue }
                ownSeconds += speed * Self.tick.inSeconds
                workers[index].left = left - speed * Self.tick.inSeconds
                guard left - speed * Self.tick.inSeconds <= 1e-9 else { continue }
                let duty = terms[workers[index].job].dutyCycle
                let length = Double(ticks - workers[index].chunkBegan)
                workers[index].left = nil
                workers[index].restsUntil = ticks + Int((length * (1 - duty) / duty).rounded())
            }
            guard ticks.isMultiple(of: 400) else { return }
            pressure += (Double(ticksWaited) / 4 - pressure) * (1 - exp(-0.2))
            ticksWaited = 0
        }
    }

    private struct Course {
        var limits: [Double] = []
        /// Of the processor time that others leave, for each second.
        var used: [Double] = []

        func use(_ seconds: Range<Int>) -> Double { used[seconds].reduce(0, +) / Double(seconds.count) }
        func cuts(_ seconds: Range<Int>) -> Int {
            zip(limits[seconds], limits[seconds].dropFirst()).count { $1 < $0 }
        }
    }

    /// Lets background tasks run on a machine, which tells its pressure every second.
    private func play(tasks: Int, cores: Int, seconds: Int, foreign: (Int) -> Int = { _ in 0 }) throws -> Course {
        var settings = SchedulerSettings()
        settings.cpuSlots = tasks
        settings.cores = cores
        var bench = Bench(settings: settings)
        let ids = try (0..<tasks).map { try bench.admit("cont.\($0)", .continued) { $0.initiator = .script } }
        var machine = BusyMachine(cores: cores)
        var random = SeededGenerator(seed: 10)
        var course = Course()
        for second in 0..<seconds {
            machine.foreign = foreign(second)
            let before = machine.ownSeconds
            machine.run(ids.compactMap { bench.core.summary($0)?.terms }, for: .seconds(1), &random)
            bench.advance(by: .seconds(1))
            for id in ids { bench.tell { $0.progressed(id, to: nil, at: $1) } }
            bench.conditions { $0.cpuPressure = machine.pressure }
            course.limits.append(bench.core.pacer.limit)
            let idle = Double(max(cores - machine.foreign, 0))
            course.used.append(idle > 0 ? (machine.ownSeconds - before) / idle : 0)
        }
        return course
    }

    @Test(
        "rule 92: on a machine that is idle otherwise our own work does not pace itself, and uses at least 90 % of it",
        arguments: [(1, 2), (2, 2), (2, 8), (3, 4), (4, 4), (8, 8)])
    func aloneItUsesTheMachine(tasks: Int, cores: Int) throws {
        let course = try play(tasks: tasks, cores: cores, seconds: 300)
        #expect(course.use(0..<300) >= 0.9)
        #expect(course.use(240..<300) >= 0.9)
        #expect(course.limits.min() == 1)
    }

    @Test(
        "rule 92: more tasks than cores press on one another, and the limit settles above its floor",
        arguments: [(4, 2), (6, 2), (8, 4)])
    func moreTasksThanCores(tasks: Int, cores: Int) throws {
        let course = try play(tasks: tasks, cores: cores, seconds: 400)
        let settled = course.limits[100...]
        #expect(course.use(100..<400) >= 0.7)
        #expect(settled.min().map { $0 >= 5 * Pacer.minLimit } == true)
        #expect(course.cuts(100..<400) <= 3)
    }

    @Test("rule 92: beside one busy thread it settles near what is left, and does not fall to its floor")
    func besideOthers() throws {
        for (tasks, cores, foreign) in [(1, 2, 1), (2, 4, 1), (2, 4, 2), (2, 8, 4)] {
            let course = try play(tasks: tasks, cores: cores, seconds: 600) { _ in foreign }
            let settled = course.limits[100...]
            #expect(settled.min().map { $0 >= 0.2 } == true)
            #expect(course.use(100..<600) >= 0.8)
            #expect(course.cuts(100..<600) <= 35)
        }
    }

    @Test("rule 92: when others take the whole machine it goes down to its floor, and comes back when they are gone")
    func othersTakeAll() throws {
        let course = try play(tasks: 2, cores: 2, seconds: 200) { 50..<100 ~= $0 ? 4 : 0 }
        #expect(course.limits[49] == 1)
        #expect(course.limits[70] <= 0.25)
        #expect(course.limits[99] == Pacer.minLimit)
        #expect(course.limits[140] == 1)
    }

    @Test("rule 92: the limit grows with the time that was calm, as far as one reading vouches for it")
    func growthFollowsTime() {
        func regrown(every seconds: Int, in total: Int) -> Double {
            var pacer = Pacer(at: .zero)
            for second in 1...20 { pacer.observe(Conditions(cpuPressure: 90), at: .seconds(second)) }
            for second in stride(from: 20 + seconds, through: 20 + total, by: seconds) {
                pacer.observe(Conditions(cpuPressure: 1), at: .seconds(second))
            }
            return pacer.limit
        }
        #expect(abs(regrown(every: 1, in: 10) - 0.55) < 1e-9)
        #expect(abs(regrown(every: 5, in: 10) - 0.55) < 1e-9)
        #expect(abs(regrown(every: 10, in: 10) - 0.55) < 1e-9)
        #expect(abs(regrown(every: 100, in: 100) - 0.55) < 1e-9, "nothing is known of the time before")
        #expect(regrown(every: 10, in: 20) == 1)
    }

    @Test("rule 92: between the levels of its band pressure neither cuts the limit nor lets it grow, and names itself")
    func theBandHolds() {
        var pacer = Pacer(at: .zero)
        pacer.observe(Conditions(cpuPressure: 90), at: .seconds(10))
        pacer.observe(Conditions(cpuPressure: 50), at: .seconds(20))
        #expect(pacer.limit == 0.5)
        #expect(pacer.cause == .cpuPressure)
        pacer.observe(Conditions(cpuPressure: 95), at: .seconds(30))
        pacer.observe(Conditions(cpuPressure: 80), at: .seconds(33))
        pacer.observe(Conditions(cpuPressure: 65), at: .seconds(36))
        #expect(pacer.limit == 0.25, "the pressure falls, so the last cut still shows its effect")
        pacer.observe(Conditions(cpuPressure: 64), at: .seconds(40))
        #expect(pacer.limit == 0.125, "it falls too slowly")
    }
}
