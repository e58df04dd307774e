import ArgumentParser
import DescribedFile
import FoundationEssentials
import ScheduleSimulation
import SystemText
import TaskModel

/// `bgrun simulate`.
struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Play a described day, or have something happen to what runs.",
        subcommands: [PlayCommand.self, HappenCommand.self], defaultSubcommand: PlayCommand.self)
}

/// `bgrun simulate play`, or without that word.
struct PlayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Play a described day of requests and conditions, and draw who ran and who waited for what.",
        discussion: """
            The day is played against the real scheduler with tasks that only pretend to work, without waiting: two \
            days take less than a second. The same day always gives the same answer.

            A day is a file in YAML or JSON:
              start: 2026-03-02T08:00Z      # or leave it out and name a recording
              length: 24h
              settings: {slots: 2, cores: 4}
              recorded: night.jsonl         # lines of bgrun conditions --watch --json
              programs:
                - program: org.example.photos
                  modes: [refresh, processing, continued]
                  identifiers: [org.example.photos.faces, org.example.photos.export.*]
              conditions:
                - {power: external, userIdle: yes}
                - {at: 09:00, userIdle: no}
              requests:
                - {at: 08:30, identifier: org.example.photos.faces, kind: processing, work: 2h, needs: power}
                - {at: +90m, identifier: org.example.photos.export.a, kind: continued, work: 20m}
              events:
                - {at: 10:15, promote: org.example.photos.export.a}

            EXAMPLES
              bgrun simulate --trace day.yml
              bgrun simulate --trace day.yml --svg day.svg
              bgrun simulate --trace day.yml --why org.example.photos.faces
              bgrun simulate --trace day.yml --json

            EXIT STATUS
              0    the day was played
              65   the file has mistakes (they are listed with their lines)
              66   the file cannot be read, or nothing in it has the name after --why
              73   the picture exists already or cannot be made; 74: writing failed
            """
    )

    @Option(help: .init("The described day.", valueName: "file"), completion: .file())
    var trace: String

    @Option(help: .init("Also draw a picture; written whole or not at all.", valueName: "out.svg"), completion: .file())
    var svg: String?

    @Flag(help: "Replace the picture that is there.")
    var force = false

    @Flag(help: "Print JSON instead of the drawing.")
    var json = false

    @Option(help: .init("Columns of the drawing; by default those of the terminal.", valueName: "n"))
    var width: Int?

    @Option(help: .init("Tell what each wait of this identifier was for.", valueName: "identifier"))
    var why: String?

    func validate() throws {
        guard width.map({ (40...1_000).contains($0) }) ?? true else {
            throw ValidationError("--width takes a number from 40 to 1000")
        }
        guard !force || svg != nil else { throw ValidationError("--force goes with --svg") }
        guard svg != "" else { throw ValidationError("an empty path is no file") }
    }

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        if let svg, !force, SystemFile.exists(svg) { throw WholeFile.exists(svg) }
        let timeline = VirtualDay.timeline(of: try DescribedDay.read(trace))
        let told = try why.map { try SpanHistory(timeline, of: $0, in: trace) }
        if let svg { try WholeFile.write(SVGTimeline.draw(timeline), to: svg, replacing: force) }
        if json {
            try StandardOutput.print(JSONText.encode(TimelineDocument(timeline)) + "\n")
        } else {
            let drawn = TextTimeline.draw(
                timeline, width: width ?? Terminal.width(environment), isUnicode: Terminal.isUnicode(environment))
            try StandardOutput.print(drawn + (told?.text ?? ""))
        }
    }
}

/// A described day that commands play.
enum DescribedDay {
    /// - Throws: An exit status, after telling every mistake on standard error.
    static func read(_ path: String) throws -> DayTrace {
        do throws(FileMistakes) {
            return try DayTraceReader.read(path: path)
        } catch {
            throw error.told(.doneWithFailures)
        }
    }
}
