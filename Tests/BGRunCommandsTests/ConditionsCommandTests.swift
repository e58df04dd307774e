import Foundation
import Glibc
import Testing

@Suite(.timeLimit(.minutes(15)))
struct ConditionsCommandTests {
    private static let keys: Set<String> = [
        "power", "batteryPercent", "lowPowerMode", "thermal", "cpuPressure", "ioPressure", "memoryPressure",
        "availableMemoryBytes", "freeDiskBytes", "network", "userIdle", "allowedHours", "foreignGPULoad",
    ]

    /// A laptop on battery, below `root`, and nothing of this machine.
    private func laptop() throws -> TestPlace {
        let place = try TestPlace()
        for (name, text) in [
            "power_supply/AC/type": "Mains", "power_supply/AC/online": "0", "power_supply/BAT0/type": "Battery",
            "power_supply/BAT0/status": "Discharging", "power_supply/BAT0/capacity": "64",
        ] { try place.write(text + "\n", to: "root/sys/class/\(name)") }
        return place
    }

    private func conditions(_ json: [String: Any]) throws -> [String: [String: Any]] {
        try #require(json["conditions"] as? [String: [String: Any]])
    }

    @Test("rule 41: a replaced root is all that is read, and what it lacks is null with the reason")
    func json() throws {
        let place = try laptop()
        for arguments in [["--root", "root"], []] {
            let run = try CommandRun(
                ["conditions", "--json", "--out", "."] + arguments, in: place,
                environment: ["BGRUN_SYSTEM_ROOT": "root"]
            ).end()
            #expect(run.status == 0, "\(run.errors)")
            let conditions = try conditions(try run.json())
            #expect(Set(conditions.keys) == Self.keys)
            #expect(conditions["power"]?["value"] as? String == "battery")
            #expect(conditions["batteryPercent"]?["value"] as? Double == 64)
            #expect(conditions["batteryPercent"]?["source"] as? String == "/sys/class/power_supply/BAT0")
            for (key, condition) in conditions {
                #expect(condition["rule"] is Int, "\(key)")
                let isKnown = !(condition["value"] is NSNull)
                #expect(isKnown == (condition["unknownBecause"] is NSNull), "\(key)")
                #expect(isKnown == (condition["source"] is String), "\(key)")
            }
            #expect(conditions["network"]?["unknownBecause"] as? String == "/proc/net/route does not exist")
        }
    }

    @Test("rule 43, rule 45: the table names each condition's rule and its limits")
    func table() throws {
        let place = try laptop()
        let run = try place.bgrun("conditions", "--root", "root")
        #expect(run.status == 0)
        for line in [
            "battery             64 %", "43: below 20 % background work stops, 30 % starts it again after 60 s",
            "45: serious paces all work to half, critical pauses background work",
            "46: above 60 % refresh and processing do not start",
            "47: below 512 MiB background work pauses", "40: above 50 % background GPU work is held",
        ] { #expect(run.output.contains(line), "\(line)") }
    }

    @Test("rule 41: on the machine itself the conditions are read")
    func machine() throws {
        let place = try TestPlace()
        let run = try place.bgrun("conditions", "--json")
        #expect(run.status == 0, "\(run.errors)")
        let conditions = try conditions(try run.json())
        #expect((conditions["availableMemoryBytes"]?["value"] as? Int ?? 0) > 0)
        #expect((conditions["freeDiskBytes"]?["value"] as? Int ?? 0) > 0)
    }

    @Test("rule 51: quiet hours show whether work is allowed now, and when next")
    func quietHours() throws {
        let place = try TestPlace()
        // Whatever the time is, one of these two halves of the day holds it.
        let runs = try ["00:00-12:00", "12:00-24:00"].map { hours in
            try conditions(try place.bgrun("conditions", "--json", "--quiet-hours", hours).json())["allowedHours"]
                ?? [:]
        }
        #expect(runs.count { $0["value"] as? Bool == true } == 1)
        for run in runs {
            #expect((run["value"] as? Bool == false) == (run["nextAllowed"] is String))
            #expect((run["note"] as? String)?.hasPrefix("until ") == true)
        }
    }

    @Test("rule 51: quiet hours, prices and roots that cannot be used are refused with a reason and a fix")
    func mistakes() throws {
        let place = try TestPlace()
        try place.write("[{\"start\": 3}]", to: "prices.json")
        let hours = try place.bgrun("conditions", "--quiet-hours", "22-7")
        #expect(hours.status == 64)
        #expect(hours.errors.contains("The quiet hours \"22-7\" cannot be used: \"22\" is no time of day."))
        let prices = try place.bgrun("conditions", "--prices", "prices.json", "--price-limit", "3")
        #expect(prices.status == 65)
        #expect(prices.errors.contains("Entry 1 of the price file cannot be used: \"start\" is not a time"))
        #expect(try place.bgrun("conditions", "--prices", "gone.json", "--price-limit", "3").status == 66)
        #expect(try place.bgrun("conditions", "--prices", "prices.json").status == 64)
        #expect(try place.bgrun("conditions", "--every", "3s").status == 64)
        let root = try place.bgrun("conditions", "--root", "gone")
        #expect(root.status == 66)
        #expect(root.errors.contains("the root gone is not a folder"))
    }

    @Test("rule 54: watching prints a line for what changes, and ends with status 0 at a signal")
    func watch() throws {
        let place = try laptop()
        let pipe = "\(place.path)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        // Held open for both, so that opening does not wait for the other end.
        let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let reader = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        var text = ""
        func nextLine() throws -> [String: Any] {
            while !text.contains("\n") { text += String(decoding: reader.availableData, as: UTF8.self) }
            let line = text.prefix { $0 != "\n" }
            text.removeFirst(line.count + 1)
            return try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        }

        let run = try CommandRun(
            ["conditions", "--watch", "--json", "--every", "100ms", "--root", "root"], in: place, standardOutput: pipe)
        let first = try nextLine()
        #expect(Set(first["changed"] as? [String] ?? []) == Self.keys)
        try place.write("63\n", to: "root/sys/class/power_supply/BAT0/capacity")
        // The room on the volume may change meanwhile, for it is the machine's own; and a file that is being written may be
        // seen empty.
        var change = try nextLine()
        while try conditions(change)["batteryPercent"]?["value"] as? Double != 63 { change = try nextLine() }
        #expect((change["changed"] as? [String])?.contains("batteryPercent") == true)
        run.send(SIGINT)
        #expect(run.end().status == 0)
    }
}
