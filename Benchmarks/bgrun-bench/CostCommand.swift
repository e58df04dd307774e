import ArgumentParser
import Foundation
import Glibc
import InferenceData

/// `bgrun-bench cost`: what the service itself takes.
struct CostCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cost", abstract: "Measure commands, an idle service, and work with it and without.",
        discussion: """
            With --model, of an array: inference with the service, without it, and in plain loops of one process and \
            of two.
            """)

    @OptionGroup var options: ServiceOptions

    @Option(help: "Times that each command is run.")
    var commands = 50

    @Option(help: "Seconds that the idle service is watched.")
    var seconds = 30

    @Option(help: "Rounds of the work with the service and without.")
    var rounds = 21

    @Option(help: "Seconds that each goes on before it is the next one's turn; by default each runs to its end.")
    var slice: Double?

    @Flag(help: "Compare with the plain loop alone, and not with the command by itself as well.")
    var loopOnly = false

    func validate() throws {
        guard !loopOnly || options.arguments == nil else {
            throw ValidationError("The loop does not know --arguments, and --loop-only leaves nothing else to compare.")
        }
    }

    func run() throws {
        let service = try BenchService(bgrun: options.bgrun)
        defer { service.end() }
        try service.run(["run", "--", "true"])
        var table = FigureTable()
        try measureCommands(service, &table)
        try measureIdleness(service, &table)
        try measureWork(service, &table)
        // What the history of that work leaves in memory.
        try measureMemory(service, "after the work", &table)
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

    /// The work through the service, by the command itself and, as far as it does the same, by a plain loop.
    ///
    /// A model is run over a part of its array as well: what the whole takes more is without what is taken once, e.g. to
    /// load the model.
    private func measureWork(_ service: BenchService, _ table: inout FigureTable) throws {
        let programs = try contenders(service)
        let part = options.model == nil ? nil : service.folder + "/part.npy"
        if let part {
            try Self.write(part, partOf: options.photos)
            try layOutWeights(service, part)
        }
        let inputs = [options.photos] + [part].compactMap { $0 }
        var uses: [[[TurnsOfPrograms.Use]]] = inputs.map { _ in programs.map { _ in [] } }
        // The first of each fills caches.
        for round in 0...rounds {
            for (place, input) in inputs.enumerated() {
                // Each begins as often as every other, and comes after each other one as often.
                let rotated = programs.indices.map { ($0 + round) % programs.count }
                let order = round % 2 == 0 ? rotated : rotated.reversed()
                let turns = order.map { index in
                    let out = "\(service.folder)/out\(index)"
                    // What is left is skipped by the command, whose time then stands out.
                    _ = try? FileManager.default.removeItem(atPath: out)
                    mkdir(out, 0o700)
                    let words = programs[index].words(input, out)
                    let errors = "\(service.folder)/errors\(index)"
                    return TurnsOfPrograms.Program(
                        name: programs[index].name, errors: errors,
                        start: { try SessionProgram(words, environment: service.environment, errors: errors) },
                        helper: programs[index].helper)
                }
                sync()
                let result = try TurnsOfPrograms(slice: slice).run(turns)
                guard round > 0 else { continue }
                for (index, use) in zip(order, result) { uses[place][index].append(use) }
            }
        }
        for (program, uses) in zip(programs, uses[0]) { table.add(program.name, median(uses.map(\.wall)), "s") }
        compare(programs, uses[0], "", goal: part == nil ? 1 : nil, &table)
        guard part != nil else { return }
        let growth = zip(uses[0], uses[1]).map { whole, part in
            zip(whole, part).map {
                TurnsOfPrograms.Use(wall: $0.wall - $1.wall, processors: $0.processors - $1.processors)
            }
        }
        compare(programs, growth, ", without what is taken once", goal: 1, &table)
    }

    /// Has the weights laid out, which is done when a first job has ended.
    private func layOutWeights(_ service: BenchService, _ input: String) throws {
        try service.run(options.arguments(for: input) + ["--progress", "none", "--out", service.folder + "/first"])
        let folder = service.folder + "/cache/bgrun/weights"
        var patience = 100
        while patience > 0, try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy({ $0.count < 64 }) {
            patience -= 1
            usleep(100_000)
        }
    }

    private struct Contender {
        let name: String
        let words: (_ input: String, _ out: String) -> [String]
        var helper: pid_t?
    }

    private func contenders(_ service: BenchService) throws -> [Contender] {
        let arguments = options.arguments(for:)
        let command = { (input: String) in [service.bgrun] + arguments(input) + ["--progress", "none"] }
        var programs = [
            Contender(
                name: "through the service", words: { command($0) + ["--out", $1] }, helper: try service.process())
        ]
        if !loopOnly {
            programs.append(Contender(name: "in-process", words: { command($0) + ["--in-process", "--out", $1] }))
        }
        guard options.arguments == nil else { return programs }
        if let model = options.model {
            programs.append(
                Contender(
                    name: "a plain loop", words: { [Executables.own, "inference-loop", model, $0, "--out", $1] }))
            // As the workers of a job are, and with the weights that they have.
            let processes = ["--processes", "2", "--weights", service.folder + "/cache/bgrun"]
            programs.append(
                Contender(
                    name: "a plain loop of two processes",
                    words: { [Executables.own, "inference-loop", model, $0, "--out", $1] + processes }))
        } else {
            let files = try FileManager.default.contentsOfDirectory(atPath: options.photos).sorted()
                .map { "\(options.photos)/\($0)" }
            programs.append(
                Contender(
                    name: "a plain loop",
                    words: { [Executables.own, "pipeline", "--processes", "2", "--out", $1] + files }))
        }
        return programs
    }

    private func compare(
        _ programs: [Contender], _ uses: [[TurnsOfPrograms.Use]], _ what: String, goal: Double?,
        _ table: inout FigureTable
    ) {
        for (program, others) in zip(programs, uses).dropFirst() {
            func more(_ value: (TurnsOfPrograms.Use) -> Double) -> [Double] {
                zip(uses[0], others).map { (value($0) / value($1) - 1) * 100 }.sorted()
            }
            let walls = more(\.wall)
            let name = "service to \(program.name)\(what)"
            table.add("\(name), median of \(rounds) rounds", median(walls), "% more", goal: goal)
            // Half of the rounds lie between these two: how much the machine itself scatters.
            table.add("\(name), a quarter of the rounds below", walls[rounds / 4], "% more")
            table.add("\(name), a quarter of the rounds above", walls[rounds - 1 - rounds / 4], "% more")
            table.add("processor time, \(name)", median(more(\.processors)), "% more")
        }
    }

    private static func write(_ path: String, partOf array: String) throws {
        let rows = try withOpenFile(array) { file throws(DataError) in
            let file = try NPYFile(file)
            return try file.rows(0..<(file.rowCount / 8))
        }
        try Data(try NPYAssembly.bytes(of: rows)).write(to: URL(filePath: path))
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
