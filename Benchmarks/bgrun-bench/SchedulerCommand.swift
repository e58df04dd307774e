import ArgumentParser
import Foundation
import SchedulingCore
import TaskModel

/// `bgrun-bench scheduler`: what one decision of the scheduler costs, by the number of pending requests.
struct SchedulerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scheduler", abstract: "Measure the scheduler's decisions by the number of pending requests.")

    @Option(help: "Largest number of pending requests; sizes go up to it in steps of ten from 100.")
    var largest = 1_000_000

    @Option(help: "Programs that the requests are spread over.")
    var programs = 10_000

    @Option(help: "Times that each figure is taken; the median counts.")
    var rounds = 7

    func run() {
        print("Median of \(rounds) rounds, \(programs) programs at most; nanoseconds for one operation.\n")
        print("| pending | submit | cancel | next to run | begin date passes | bytes for one |")
        print("|---|---|---|---|---|---|")
        var sizes: [Int] = []
        var size = 100
        while size <= largest {
            sizes.append(size)
            size *= 10
        }
        var first: Figures?
        var last: Figures?
        for size in sizes {
            let figures = measure(size)
            first = first ?? figures
            last = figures
            print(
                "| \(size) | \(figures.times.map { "\(Int($0))" }.joined(separator: " | ")) | \(figures.bytes.map { "\($0)" } ?? "-") |"
            )
        }
        guard let first, let last, let smallest = sizes.first, let biggest = sizes.last, biggest > smallest else {
            return
        }
        let bound = log2(Double(biggest)) / log2(Double(smallest))
        let growth = zip(last.times, first.times).map { String(format: "%.2f", $0 / $1) }
        print(
            "\nGrowth from \(smallest) to \(biggest): \(growth.joined(separator: ", ")); log n grows \(String(format: "%.2f", bound)) times."
        )
    }

    private struct Figures {
        /// Nanoseconds: submit, cancel, next to run, begin date passes.
        var times: [Double]
        /// Resident memory for one more pending request; nil where too few to tell.
        var bytes: Int?
    }

    private static let operations = 500

    private func measure(_ size: Int) -> Figures {
        var samples: [[Double]] = [[], [], [], []]
        let before = Self.residentBytes()
        var filled = fill(size)
        let bytes = size >= 10_000 ? (Self.residentBytes() - before) / size : nil
        for round in 0..<rounds {
            samples[0].append(submit(&filled, round))
            samples[1].append(cancel(&filled, round))
            samples[2].append(nextToRun(&filled, min(size / 20, 40)))
            samples[3].append(beginDates(&filled))
        }
        return Figures(times: samples.map(median), bytes: bytes)
    }

    private struct Filled {
        var core: Scheduler
        var now: Duration
        var programs: Int
        var holder: JobID
    }

    private static let wall: Duration = .seconds(1_800_000_000)

    /// A scheduler with one slot, held, and so many requests that are due, wait for the network, or for their date.
    private func fill(_ size: Int) -> Filled {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        settings.maxPending = [:]
        settings.maxEnded = 10
        var core = Scheduler(settings: settings, at: .zero, wall: Self.wall)
        let count = min(programs, max(size / 10, 1))
        for index in 0..<count {
            let name = "org.program\(index)"
            let dated = index == 0 ? (0..<Self.operations).map { IdentifierPattern("\(name).dated\($0)") } : []
            let manifest = ProgramManifest(
                program: name, modes: [.continued, .processing], permitted: [IdentifierPattern("\(name).*")] + dated)
            _ = core.addProgram(manifest, usesHandlers: false, at: .zero)
        }
        _ = core.conditionsChanged(Conditions(network: Conditions.Network.none), at: .zero)
        var holder = JobID(0)
        for index in 0..<size {
            let name = "org.program\(index % count)"
            let request = TaskRequest(
                identifier: TaskIdentifier("\(name).job\(index)"), kind: .continued, title: "Job",
                requiresNetwork: index % 2 == 1)
            let submission = core.submit(request, program: name, at: .zero)
            if index == 0, case .success(let admission) = submission.answer { holder = admission.id }
        }
        return Filled(core: core, now: .zero, programs: count, holder: holder)
    }

    private func submit(_ filled: inout Filled, _ round: Int) -> Double {
        let requests = (0..<Self.operations).map { index in
            let name = "org.program\(index % filled.programs)"
            return (
                name,
                TaskRequest(identifier: TaskIdentifier("\(name).new\(round)-\(index)"), kind: .continued, title: "Job")
            )
        }
        return time {
            for (name, request) in requests { _ = filled.core.submit(request, program: name, at: filled.now) }
        }
    }

    private func cancel(_ filled: inout Filled, _ round: Int) -> Double {
        let names = (0..<Self.operations).map { index in
            let name = "org.program\(index % filled.programs)"
            return (name, TaskIdentifier("\(name).new\(round)-\(index)"))
        }
        return time {
            for (name, identifier) in names { _ = filled.core.cancel(identifier, program: name, at: filled.now) }
        }
    }

    /// The running task ends, and the next one is chosen and launched.
    private func nextToRun(_ filled: inout Filled, _ count: Int) -> Double {
        var launched = filled.holder
        let nanoseconds = time(count) {
            for _ in 0..<count {
                for action in filled.core.completed(launched, success: true, at: filled.now) {
                    if case .launch(let id, _) = action { launched = id }
                }
            }
        }
        filled.holder = launched
        return nanoseconds
    }

    private func beginDates(_ filled: inout Filled) -> Double {
        let name = "org.program0"
        for index in 0..<Self.operations {
            let request = TaskRequest(
                identifier: TaskIdentifier("\(name).dated\(index)"), kind: .processing,
                earliestBegin: Self.wall + filled.now + .seconds(1 + index))
            _ = filled.core.submit(request, program: name, at: filled.now)
        }
        return time {
            filled.now += .seconds(Self.operations + 1)
            _ = filled.core.timePassed(at: filled.now)
        }
    }

    /// Nanoseconds for one of so many operations.
    private func time(_ operations: Int = Self.operations, _ body: () -> Void) -> Double {
        let taken = ContinuousClock().measure(body)
        return taken / .nanoseconds(1) / Double(operations)
    }

    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
