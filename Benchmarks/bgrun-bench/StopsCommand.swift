import ArgumentParser
import CBenchProcess
import Foundation
import Glibc
import JobLink
import Synchronization
import TaskModel
import WorkerPriority

/// `bgrun-bench stops`: how long an export takes from being told to stop to its end, everything committed.
///
/// The export runs as the work of a job, in a session of its own at the priority of its terms, and is stopped at random
/// moments as a service would: raised first, then told, then killed at the limit.
struct StopsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stops", abstract: "Measure from a stop to the end of the process, at random moments.")

    @Argument(help: "Folder of pictures, enough for some seconds of work.")
    var photos: String

    @Option(help: "Path of bgrun; by default beside this program.")
    var bgrun: String?

    @Option(help: "Stops for each case.")
    var count = 200

    @Option(help: .init("background, foreground or both.", valueName: "terms"))
    var terms = "both"

    @Option(help: .init("Busy threads at normal priority beside it; several with commas.", valueName: "n"))
    var busy = "0,2"

    @Option(help: "Longest moment of a stop after the start, milliseconds.")
    var span = 1500

    @Option(help: .init("More arguments of the export, as one text.", valueName: "text"))
    var arguments = "--size 2048"

    private struct Case {
        var terms: RunTerms
        var busy: Int
    }

    private struct Stop {
        var milliseconds: Double
        var outcome: TaskOutcome?
    }

    func run() throws {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let all = [
            RunTerms(priority: .background, chunkTarget: .milliseconds(50), dutyCycle: 1, concurrency: cores),
            RunTerms(priority: .foreground, chunkTarget: .milliseconds(300), dutyCycle: 1, concurrency: cores),
        ]
        let chosen = all.filter { terms == "both" || $0.priority.rawValue == terms }
        print("terms       busy  tier         n   p50 ms  p99 ms  max ms  goal ms")
        for busy in busy.split(separator: ",").compactMap({ Int($0) }) {
            let threads = BusyThreads(busy)
            defer { threads.stop() }
            for terms in chosen { try measure(Case(terms: terms, busy: busy)) }
        }
    }

    private func measure(_ each: Case) throws {
        let place = NSTemporaryDirectory() + "bgrun-stops-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        // What cannot be removed stays in the folder for temporary files.
        defer { _ = try? FileManager.default.removeItem(atPath: place) }
        var times: [Double] = []
        var tiers: Set<String> = []
        var round = 0
        while times.count < count {
            round += 1
            guard round < 4 * count else {
                throw ProcessError(description: "the exports end before they are stopped: give more pictures")
            }
            let (stop, tier) = try oneStop(
                each.terms, place: "\(place)/\(round % 8)", meetsWork: round % 4 != 0)
            if let tier { tiers.insert(tier.rawValue) }
            guard case .stopped? = stop.outcome else { continue }
            times.append(stop.milliseconds)
        }
        func column(_ share: Double) -> String { String(format: "%7.1f", quantile(share, of: times)) }
        let goal = Int(2 * (each.terms.chunkTarget / .milliseconds(1))) + 50
        let columns = [
            each.terms.priority.rawValue.padding(toLength: 10, withPad: " ", startingAt: 0),
            String(format: "%5d", each.busy),
            " " + tiers.sorted().joined(separator: "/").padding(toLength: 10, withPad: " ", startingAt: 0),
            String(format: "%4d", times.count), column(0.5), column(0.99), column(1), String(format: "%8d", goal),
        ]
        print(columns.joined(separator: " "))
        // As it comes, also into a file.
        fflush(nil)
    }

    private func oneStop(_ terms: RunTerms, place: String, meetsWork: Bool) throws -> (Stop, PriorityTier?) {
        _ = try? FileManager.default.removeItem(atPath: place)
        guard let (host, worker) = PacketChannel.pair() else { throw ProcessError(description: "no sockets") }
        defer { host.closeDescriptor() }
        _ = host.send(JobCommand.terms(terms))
        let words =
            [bgrun ?? Self.besideThisProgram, "export", photos, "--out", place + "/out", "--job-channel", "3"]
            + arguments.split(separator: " ").map(String.init)
        let process = try start(words, channel: worker.descriptor, state: place + "/state")
        worker.closeDescriptor()
        var priority = WorkerPriority(process: process, unit: nil)
        if terms.priority == .background { apply(.background, to: &priority) }
        let tier = priority.tier
        // A quarter of the moments may lie before the first picture.
        if meetsWork { waitForWork(host) }
        usleep(UInt32.random(in: 0...UInt32(span) * 1000))
        let clock = SuspendingClock()
        let begin = clock.now
        var boost = terms.priority == .background ? priority.apply(.foreground) : .applied(.pacing)
        _ = host.send(JobCommand.stop(.preempted, within: terms.chunkTarget * 2))
        var outcome: TaskOutcome?
        while true {
            if case .retry(let time) = boost, !isReadable(host, within: time) {
                boost = priority.apply(.foreground)
                continue
            }
            guard case .message(let report) = host.receive(JobReport.self, waiting: true) else { break }
            if case .ended(let end) = report { outcome = end.outcome }
        }
        while waitpid(process, nil, 0) < 0 && errno == EINTR {}
        return (Stop(milliseconds: begin.duration(to: clock.now) / .milliseconds(1), outcome: outcome), tier)
    }

    private func waitForWork(_ host: PacketChannel) {
        while case .message(let report) = host.receive(JobReport.self, waiting: true) {
            if case .progress(let progress, device: _) = report, progress.fraction > 0 { return }
        }
    }

    private func isReadable(_ host: PacketChannel, within time: Duration) -> Bool {
        var ends = pollfd(fd: host.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&ends, 1, Int32((time / .milliseconds(1)).rounded(.up))) > 0
    }

    private func apply(_ wanted: RunTerms.Priority, to priority: inout WorkerPriority) {
        while case .retry(let time) = priority.apply(wanted) { usleep(UInt32(time / .microseconds(1))) }
    }

    private func start(_ words: [String], channel: Int32, state: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, channel, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // POSIX_SPAWN_SETSID (glibc's spawn.h), which Swift does not import.
        posix_spawnattr_setflags(&attributes, 0x80)
        var variables = ProcessInfo.processInfo.environment
        variables["XDG_STATE_HOME"] = state
        let texts: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        let environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (texts + environment).forEach { free($0) } }
        var process = pid_t()
        let status = posix_spawn(&process, words[0], &actions, &attributes, texts, environment)
        guard status == 0 else { throw ProcessError(description: "cannot start \(words[0])") }
        return process
    }

    private static var besideThisProgram: String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (own as NSString).deletingLastPathComponent + "/bgrun"
    }
}

/// Threads that take all the processor they get, until they are stopped.
final class BusyThreads: Sendable {
    private let isOver = Atomic<Bool>(false)

    init(_ count: Int) {
        for _ in 0..<count {
            let thread = Thread { [self] in
                var value = UInt64(1)
                while !isOver.load(ordering: .relaxed) {
                    for _ in 0..<10_000 { value = value &* 6_364_136_223_846_793_005 &+ 1 }
                }
                if value == 0 { print("") }
            }
            thread.start()
        }
    }

    func stop() { isOver.store(true, ordering: .relaxed) }
}
