import ArgumentParser
import Foundation
import Glibc

/// `bgrun-bench cost`: what the service itself takes.
struct CostCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cost", abstract: "Measure commands, an idle service, and an export with it and without.",
        discussion:
            "With --model, of an array: inference with the service and without, and what its chunks and checkpoints take."
    )

    @OptionGroup var options: ServiceOptions

    @Option(help: "Times that each command is run.")
    var commands = 50

    @Option(help: "Seconds that the idle service is watched.")
    var seconds = 30

    @Option(help: "Rounds of exports with the service and without.")
    var rounds = 21

    @Option(help: "Seconds that each export goes on before it is the next one's turn; by default each runs to its end.")
    var slice: Double?

    func run() throws {
        let service = try BenchService(bgrun: options.bgrun)
        defer { service.end() }
        try service.run(["run", "--", "true"])
        var table = FigureTable()
        try measureCommands(service, &table)
        try measureIdleness(service, &table)
        try measureExports(service, &table)
        if let model = options.model { try measureChunks(service, model, &table) }
        // What the history of those exports leaves in memory.
        try measureMemory(service, "after the exports", &table)
        try table.print(asJSON: options.json)
    }

    private func measureCommands(_ service: BenchService, _ table: inout FigureTable) throws {
        let lines = [
            ("bgrun jobs", [service.bgrun, "jobs"]), ("bgrun --version", [service.bgrun, "--version"]),
            ("true", [Tools.locate("true") ?? "/bin/true"]),
        ]
        var times: [[Double]] = lines.map { _ in [] }
        // The first of each fills caches.
        for round in 0...commands {
            for (index, line) in lines.enumerated() {
                let time = try time { try SessionProgram(line.1, environment: service.environment).wait() }
                if round > 0 { times[index].append(time * 1000) }
            }
        }
        for (line, times) in zip(lines, times) {
            table.add(
                "\(line.0), median of \(commands)", median(times), "ms", goal: line.0 == "bgrun jobs" ? 15 : nil)
        }
    }

    private func measureIdleness(_ service: BenchService, _ table: inout FigureTable) throws {
        let process = try service.process()
        // Threads of the requests go to rest first, and the service listens to the machine for some seconds more.
        sleep(15)
        let before = Self.switches(process)
        let used = ProcessUse.nanoseconds(of: [process])
        sleep(UInt32(seconds))
        let after = Self.switches(process)
        table.add(
            "idle service: wake-ups in \(seconds) s", Double(after - before) / Double(seconds), "1/s", goal: 0)
        let share = (ProcessUse.nanoseconds(of: [process]) - used) * 1e-9 / Double(seconds)
        table.add("idle service: processor time", share * 100, "%")
        try measureMemory(service, "idle", &table)
    }

    private func measureMemory(_ service: BenchService, _ when: String, _ table: inout FigureTable) throws {
        let process = try service.process()
        let lines = (readSmallFile("/proc/\(process)/status") ?? "").split(separator: "\n")
        for (field, goal) in [("VmRSS", 40.0), ("RssAnon", nil), ("Threads", nil)] as [(String, Double?)] {
            let line = lines.first { $0.hasPrefix(field + ":") }?.split(whereSeparator: \.isWhitespace) ?? []
            let value = line.count > 1 ? Double(line[1]) ?? .nan : .nan
            let isSize = field != "Threads"
            table.add(
                "service \(when): \(field)", isSize ? value * 1024 / 1e6 : value, isSize ? "MB" : "", goal: goal)
        }
    }

    /// The export through the service, by the command itself and, as far as it does the same, by a plain loop.
    private func measureExports(_ service: BenchService, _ table: inout FigureTable) throws {
        let work = [service.bgrun] + options.work + ["--progress", "none"]
        var programs: [(name: String, words: (_ out: String) -> [String], helper: pid_t?)] = [
            ("export through the service", { work + ["--out", $0] }, try service.process()),
            ("export --in-process", { work + ["--in-process", "--out", $0] }, nil),
        ]
        if options.model == nil && options.arguments == nil {
            let files = try FileManager.default.contentsOfDirectory(atPath: options.photos).sorted()
                .map { "\(options.photos)/\($0)" }
            programs.append(
                (
                    "the same pipeline in a plain loop",
                    { [Executables.own, "pipeline", "--processes", "2", "--out", $0] + files }, nil
                ))
        }
        var uses: [[TurnsOfPrograms.Use]] = programs.map { _ in [] }
        // The first of each fills caches.
        for round in 0...rounds {
            // Each begins as often as every other.
            let order = programs.indices.map { ($0 + round) % programs.count }
            let turns = order.map { index in
                let out = "\(service.folder)/out\(index)"
                // What is left is skipped by the export, whose time then stands out.
                _ = try? FileManager.default.removeItem(atPath: out)
                mkdir(out, 0o700)
                let words = programs[index].words(out)
                return TurnsOfPrograms.Program(
                    start: { try SessionProgram(words, environment: service.environment) },
                    helper: programs[index].helper)
            }
            sync()
            let result = try TurnsOfPrograms(slice: slice).run(turns)
            guard round > 0 else { continue }
            for (index, use) in zip(order, result) { uses[index].append(use) }
        }
        for (program, uses) in zip(programs, uses) { table.add(program.name, median(uses.map(\.wall)), "s") }
        for (name, others) in zip(["in-process", "a plain loop"], uses.dropFirst()) {
            func more(_ value: (TurnsOfPrograms.Use) -> Double) -> [Double] {
                zip(uses[0], others).map { (value($0) / value($1) - 1) * 100 }.sorted()
            }
            let walls = more(\.wall)
            table.add("service to \(name), median of \(rounds) rounds", median(walls), "% more", goal: 1)
            // Half of the rounds lie between these two: how much the machine itself scatters.
            table.add("service to \(name), a quarter of the rounds below", walls[rounds / 4], "% more")
            table.add("service to \(name), a quarter of the rounds above", walls[rounds - 1 - rounds / 4], "% more")
            table.add("processor time, service to \(name)", median(more(\.processors)), "% more")
        }
    }

    /// Times that threads of a process have gone to sleep.
    private static func switches(_ process: pid_t) -> Int {
        ProcessUse.threads(of: process).reduce(0) { sum, thread in
            let lines = (readSmallFile("/proc/\(process)/task/\(thread)/status") ?? "").split(separator: "\n")
            let line = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0)
        }
    }

    /// Seconds of wall time.
    private func time<Result>(_ body: () throws -> Result) throws -> Double {
        let clock = SuspendingClock()
        let begin = clock.now
        _ = try body()
        return begin.duration(to: clock.now) / .seconds(1)
    }
}
