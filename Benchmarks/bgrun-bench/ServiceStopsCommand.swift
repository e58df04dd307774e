import ArgumentParser
import Foundation
import Glibc
import ServiceAPI
import ServiceClient
import TaskModel

/// `bgrun-bench service-stops`: how long a job of the service takes from `POST /v1/jobs/ID/stop` to its end, everything
/// committed, at random moments of its work.
struct ServiceStopsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service-stops", abstract: "Measure from a stop to the end of a job of the service.")

    @OptionGroup var options: ServiceOptions

    @Option(help: "Stops for each case.")
    var count = 200

    @Option(help: .init("background, foreground or both.", valueName: "terms"))
    var terms = "both"

    @Option(help: .init("Busy threads in a session of their own; several with commas.", valueName: "n"))
    var busy = "0,2"

    @Option(help: "Longest moment of a stop after the first progress, milliseconds.")
    var span = 1000

    func run() throws {
        let service = try BenchService(bgrun: options.bgrun)
        defer { service.end() }
        var table = FigureTable()
        for busy in busy.split(separator: ",").compactMap({ Int($0) }) {
            let load = try busy == 0 ? nil : self.load(busy, service)
            defer { load?.end() }
            for priority in [RunTerms.Priority.background, .foreground]
            where terms == "both" || terms == priority.rawValue {
                try measure(priority, busy: busy, service, &table)
            }
        }
        try table.print(asJSON: options.json)
    }

    private func load(_ threads: Int, _ service: BenchService) throws -> SessionProgram {
        try SessionProgram(
            [
                Executables.own, "probe", "throughput", "--threads", "\(threads)", "--seconds", "86400", "--rounds",
                "1000000",
            ], environment: service.environment)
    }

    private func measure(
        _ priority: RunTerms.Priority, busy: Int, _ service: BenchService, _ table: inout FigureTable
    ) throws {
        var times: [Double] = []
        var leftOver = 0
        var rounds = 0
        while times.count < count {
            rounds += 1
            guard rounds < 4 * count else {
                throw ProcessError(description: "the jobs end before they are stopped: give more inputs")
            }
            let out = "\(service.folder)/out-\(rounds % 4)"
            // What is left is skipped by the export, which then ends before it is stopped.
            _ = try? FileManager.default.removeItem(atPath: out)
            guard let time = try oneStop(priority, service, out) else { continue }
            times.append(time)
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: out)) ?? []
            // Parts of an inference are what it goes on with.
            leftOver += names.count { name in
                name.split(separator: "/").last.map { $0.hasPrefix(".") && !$0.hasPrefix(".bgrun-parts-") } ?? false
            }
        }
        // A model is stopped between two operators.
        let background = options.model == nil ? 150.0 : 50
        let goal = busy > 0 ? 250 : priority == .background ? background : 650
        let name = "\(priority.rawValue), \(busy) busy threads, \(times.count) stops"
        table.add("\(name): p50", quantile(0.5, of: times), "ms")
        table.add("\(name): p99", quantile(0.99, of: times), "ms", goal: goal)
        table.add("\(name): longest", quantile(1, of: times), "ms")
        table.add("\(name): temporary files left", Double(leftOver), "", goal: 0)
    }

    /// - Returns: Milliseconds; nil when the job ended by itself.
    private func oneStop(
        _ priority: RunTerms.Priority, _ service: BenchService, _ out: String
    ) throws -> Double? {
        let id = try service.submit(options.work, to: out)
        if priority == .foreground { try service.ask(id, .foreground) }
        let shown = try service.waitFor(id, "work") {
            $0.state == .ended || $0.priority == priority && $0.priorityTier != nil && ($0.progress?.fraction ?? 0) > 0
        }
        if shown.state == .ended, let outcome = shown.outcome, !outcome.hasPrefix("completed") {
            throw ProcessError(description: "job \(id) ended with \(outcome): \(shown.text ?? "")")
        }
        usleep(UInt32.random(in: 0...UInt32(span) * 1000))
        let clock = SuspendingClock()
        let begin = clock.now
        do throws(ServiceClient.Failure) {
            let job = try service.client.ask(id, .stop)
            guard job.state != .ended else { return nil }
            var end: JobDocument?
            _ = try service.client.follow(id, after: 0, isWaiting: false, isQuiet: true) { event in
                if event.kind == .ended { end = event.job }
            }
            let time = begin.duration(to: clock.now) / .milliseconds(1)
            return end?.outcome == "stopped.userStop" ? time : nil
        } catch {
            throw ProcessError(description: "the service does not answer: \(error)")
        }
    }
}
