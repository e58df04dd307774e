import ArgumentParser
import FoundationEssentials
import Glibc
import SystemConditions
import SystemText
import TaskModel

struct ConditionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conditions",
        abstract: "Show the conditions of this machine that hold work back or let it go.",
        discussion: """
            Each condition has its value, where that comes from, and the rule that it feeds. What cannot be read is \
            unknown, which holds nothing back unless a job asks for it. Nothing is changed, and nothing is sent to \
            another machine.

            EXAMPLES
              bgrun conditions
              bgrun conditions --json
              bgrun conditions --watch
              bgrun conditions --watch --every 10s --json
              bgrun conditions --quiet-hours 22:00-07:00,12:00-13:00
              bgrun conditions --prices prices.json --price-limit 30

            A price file is JSON; the values may be prices or grams of carbon:
              [{"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T01:00:00Z", "value": 31.5}]

            ENVIRONMENT
              BGRUN_SYSTEM_ROOT        a folder to read /sys, /proc and the like below, instead of /
              DBUS_SYSTEM_BUS_ADDRESS  another system bus

            FILES
              $XDG_CONFIG_HOME/bgrun/low-power-mode
                                       "on" or "off" decides about low power mode, whatever the system says
              $XDG_CONFIG_HOME/bgrun/quiet-hours, prices.json, price-limit
                                       what --quiet-hours, --prices and --price-limit take; also for the service and \
            programs
            """
    )

    @Flag(help: "Print JSON: one object; with --watch one a line.")
    var json = false

    @Flag(help: "Print each change as it comes, until Ctrl-C.")
    var watch = false

    @Option(
        help: .init(
            "With --watch: also look at this interval at what no event reports, e.g. temperatures.",
            valueName: "time"), transform: TimeSpan.parse)
    var every: TimeSpan?

    @Option(help: .init("Folder of outputs whose volume is looked at; may be repeated.", valueName: "folder"))
    var out: [String] = ["."]

    @Option(
        help: .init("Hours in which nothing is to run, e.g. 22:00-07:00; commas separate several.", valueName: "hours"))
    var quietHours: String?

    @Option(help: .init("A file of prices or carbon by the hour.", valueName: "file"), completion: .file())
    var prices: String?

    @Option(help: .init("Above this value of the price file work is held back.", valueName: "n"))
    var priceLimit: Double?

    @Option(
        help: .init("A folder to read /sys, /proc and the like below, instead of /.", valueName: "folder"),
        completion: .directory)
    var root: String?

    func validate() throws {
        guard watch || every == nil else { throw ValidationError("--every goes with --watch") }
        guard (prices == nil) == (priceLimit == nil) else {
            throw ValidationError("--prices and --price-limit go together")
        }
        guard !out.contains("") else { throw ValidationError("an empty path is no folder") }
    }

    func run() throws {
        let environment = ProcessInfo.processInfo.environment
        let folder = root ?? environment["BGRUN_SYSTEM_ROOT"] ?? "/"
        var status = stat()
        guard stat(folder.systemBytes, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            StandardError.write("bgrun: the root \(folder) is not a folder. Name one that has sys and proc in it.\n")
            throw ExitStatus.missingInput.code
        }
        let hours = try allowedHours()
        let systemRoot = SystemRoot(folder)
        let reader = ConditionsReader(
            root: systemRoot, bus: .standard(root: systemRoot, environment: environment))
        let settings = ConditionSettings(
            outputFolders: out, lowPowerSwitch: PersonFiles(environment: environment)?.lowPowerSwitch,
            ownProcesses: [Int(getpid())])

        let trouble: Int32
        if watch {
            trouble = try ConditionsWatch(
                reader: reader, settings: settings, hours: hours, sampling: every?.duration, json: json
            ).run()
        } else {
            var meter = GPULoadMeter()
            let now = WallClock.now()
            let rows = ConditionRow.all(reader.read(settings, meter: &meter), AllowedNow(hours, at: now))
            trouble = StandardOutput.write(
                json ? try ConditionsDocument(rows, time: now).text(pretty: true) : ConditionTable(rows: rows).text)
        }
        guard trouble == 0 else {
            StandardError.write("bgrun: standard output cannot be written: \(String(cString: strerror(trouble)))\n")
            throw ExitStatus.writeFailed.code
        }
    }

    private func allowedHours() throws -> AllowedHours {
        var hours = AllowedHours()
        do {
            if let files = PersonFiles(environment: ProcessInfo.processInfo.environment) {
                hours = try files.allowedHours()
            }
            if let quietHours { hours.quietHours = try QuietHours.parse(quietHours) }
            if let prices, let priceLimit { hours.prices = try PriceFile(path: prices, limit: priceLimit) }
        } catch {
            let diagnostic = error.diagnostic
            StandardError.write("bgrun: \(diagnostic.sentence)\n  \(diagnostic.code): \(diagnostic.fix)\n")
            switch diagnostic.code {
            case "quietHours": throw ExitStatus.usage.code
            case "priceFileMissing": throw ExitStatus.missingInput.code
            default: throw ExitStatus.doneWithFailures.code
            }
        }
        return hours
    }
}
