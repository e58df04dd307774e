import Foundation
import TaskStore
import Testing

/// `bgrun simulate`, `submit --dry-run` and `why`.
@Suite struct ScheduleCommandTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.write(Self.day, to: "day.yml")
        try place.write(Self.manifest, to: "app.yml")
        try place.write("", to: "machine/proc/empty")
    }

    private static let manifest = """
        program: org.a
        modes: [processing, continued]
        identifiers: [org.a.index, org.a.job.*]
        """

    private static let day = """
        start: 2026-03-02T08:00Z
        length: 4h
        settings: {slots: 1, cores: 2}
        programs:
          - {program: org.a, modes: [processing, continued], identifiers: [org.a.index, org.a.job.*]}
        conditions: [{userIdle: no}, {at: 10:00, userIdle: yes}]
        requests:
          - {at: 08:00, identifier: org.a.index, kind: processing, work: 30m}
          - {at: 08:00, identifier: org.a.job.a, kind: continued, work: 1h}
          - {at: 08:10, identifier: org.a.job.b, kind: continued, strategy: fail}
        """

    /// A machine of which nothing is known.
    private var bareMachine: [String: String] { ["BGRUN_SYSTEM_ROOT": place.path + "/machine"] }

    @Test("A day is drawn as text, as JSON and as a picture")
    func simulate() throws {
        let drawn = try place.bgrun("simulate", "--trace", "day.yml", "--svg", "day.svg", "--width", "80")
        #expect(drawn.status == 0)
        #expect(drawn.output.contains("index: waited 2 h"))
        #expect(try place.contents(".").keys.contains("day.svg"))
        let json = try place.bgrun("simulate", "--trace", "day.yml", "--json").json()
        #expect((json["jobs"] as? [[String: Any]])?.count == 2)
        #expect((json["rejected"] as? [[String: Any]])?.first?["code"] as? String == "immediateRunIneligible")
    }

    @Test("A picture that is there is not replaced unless asked to")
    func existing() throws {
        try place.write("mine", to: "day.svg")
        let refused = try place.bgrun("simulate", "--trace", "day.yml", "--svg", "day.svg")
        #expect(refused.status == 73)
        #expect(refused.output.isEmpty)
        #expect(try place.contents(".")["day.svg"] == Data("mine".utf8))
        #expect(try place.bgrun("simulate", "--trace", "day.yml", "--svg", "day.svg", "--force").status == 0)
        #expect(try place.contents(".")["day.svg"]?.count ?? 0 > 1_000)
        #expect(try place.bgrun("simulate", "--trace", "day.yml", "--svg", "none/day.svg").status == 73)
    }

    @Test("A day with mistakes is refused with status 65, each mistake in a line with its place")
    func mistakes() throws {
        try place.write("start: 2026-03-02T08:00Z\nrequest: []\nlength: soon\n", to: "bad.yml")
        let ended = try place.bgrun("simulate", "--trace", "bad.yml", "--svg", "bad.svg")
        #expect(ended.status == 65)
        #expect(
            ended.errors == """
                bad.yml:2: request: "request" is no key here. Did you mean "requests"?
                bad.yml:3: length: "soon" is no length of time. Write a number with ms, s, m, h or d, e.g. 90s or 1h30m.

                """)
        #expect(!place.exists("bad.svg"))
        #expect(try place.bgrun("simulate", "--trace", "none.yml").status == 66)
    }

    @Test("rule 95: why tells each reason at a moment of a day, with measured value, threshold and fix")
    func whyInADay() throws {
        let ended = try place.bgrun("why", "--trace", "day.yml", "--at", "09:30", "org.a.index")
        #expect(ended.status == 0)
        #expect(ended.output.contains("waiting since 09:00:00"))
        #expect(ended.output.contains("condition.idle: Someone is using the machine."))
        #expect(ended.output.contains("measured in use, needs idle"))
        #expect(ended.output.contains("Earliest start: not known."))
        #expect(ended.output.contains("condition.idle 1 h 30 min"))
        let over = try place.bgrun("why", "--trace", "day.yml", "index", "--json").json()
        #expect(over["outcome"] as? String == "completed")
        let wrong = try place.bgrun("why", "--trace", "day.yml", "org.a.indx")
        #expect(wrong.status == 66)
        #expect(wrong.errors.contains("\"org.a.index\""))
        let history = try place.bgrun("simulate", "--trace", "day.yml", "--why", "org.a.index")
        #expect(history.output.contains("10:00:00  runs in the background for 30 min"))
    }

    @Test("rule 28: a dry run decides, tells where and how long it would run, and changes nothing")
    func dryRun() throws {
        let before = try place.contents(".").keys.sorted()
        let ended = try place.bgrun(
            "submit", "--dry-run", "--manifest", "app.yml", "--identifier", "org.a.job.x", "--kind", "continued",
            "--work", "10m", environment: bareMachine)
        #expect(ended.status == 0)
        #expect(ended.output.contains("would be admitted"))
        #expect(ended.output.contains("on the CPU lane, in the foreground"))
        #expect(ended.output.contains("Expected: 2000 chunks, 10 min of work."))
        #expect(try place.contents(".").keys.filter { !$0.hasPrefix(".stdout") }.sorted() == before)
    }

    @Test("rule 28: a dry run tells the earliest start and every reason to wait")
    func dryRunThatWaits() throws {
        try place.write(
            "manifest: app.yml\nidentifier: org.a.index\nkind: processing\nfloor: +3h\nmustBeKnown: [gpuContention]\n",
            to: "request.yml")
        let json = try place.bgrun("submit", "--dry-run", "request.yml", "--json").json()
        #expect(json["admitted"] as? Bool == true)
        #expect(json["startsNow"] as? Bool == false)
        let reasons = json["reasons"] as? [[String: Any]] ?? []
        #expect(reasons.compactMap { $0["code"] as? String }.contains("earliestBeginDate"))
    }

    @Test("rule 28: a dry run goes by the machine's conditions, as they are measured")
    func dryRunMeasures() throws {
        try place.write("Mains\n", to: "machine/sys/class/power_supply/AC/type")
        try place.write("0\n", to: "machine/sys/class/power_supply/AC/online")
        try place.write("Battery\n", to: "machine/sys/class/power_supply/BAT0/type")
        try place.write("System\n", to: "machine/sys/class/power_supply/BAT0/scope")
        try place.write("1\n", to: "machine/sys/class/power_supply/BAT0/present")
        try place.write("Discharging\n", to: "machine/sys/class/power_supply/BAT0/status")
        try place.write("12\n", to: "machine/sys/class/power_supply/BAT0/capacity")
        let ended = try place.bgrun(
            "submit", "--dry-run", "--manifest", "app.yml", "--identifier", "org.a.index", "--kind", "processing",
            "--requires-power", environment: bareMachine)
        #expect(ended.status == 0)
        #expect(ended.output.contains("condition.externalPower: The machine is not on external power."))
        #expect(ended.output.contains("measured battery, needs external"))
        let why = try place.bgrun(
            "why", "--manifest", "app.yml", "--kind", "processing", "org.a.index", environment: bareMachine)
        #expect(why.output.contains("measured 12 %, needs 30 %"))
    }

    @Test(
        "rule 28, rule 19: a refused dry run lists all failures and leaves the status of its cause",
        arguments: [
            (["--identifier", "org.a.other", "--kind", "processing"], 77, "identifierNotPermitted"),
            (["--identifier", "org.b.x", "--kind", "processing"], 64, "identifierShape"),
            (["--identifier", "org.a.index", "--kind", "refresh"], 77, "modeMissing"),
            (["--identifier", "org.a.job.x", "--kind", "continued", "--gpu"], 77, "grantMissing"),
        ])
    func rejected(arguments: [String], status: Int32, code: String) throws {
        let ended = try CommandRun(["submit", "--dry-run", "--manifest", "app.yml"] + arguments, in: place).end()
        #expect(ended.status == status)
        #expect(ended.output.contains("would be rejected"))
        #expect(ended.output.contains(code))
        #expect(ended.output.contains("what helps"))
    }

    @Test("rule 20: a machine without a GPU leaves status 69 with the cause")
    func noGPU() throws {
        try place.write(Self.manifest + "\ngrants: [gpu]\n", to: "gpu.yml")
        let ended = try place.bgrun(
            "submit", "--dry-run", "--manifest", "gpu.yml", "--identifier", "org.a.job.x", "--kind", "continued",
            "--gpu", "--json", environment: ["BGRUN_OPENCL_LOADER": "libnone.so"])
        #expect(ended.status == 69)
        let failures = try ended.json()["failures"] as? [[String: Any]] ?? []
        #expect(failures.contains { $0["detail"] as? String == "noLoader" })
    }

    @Test("A manifest that nobody names is looked for as programs look for theirs")
    func manifestSearch() throws {
        let request = ["submit", "--dry-run", "--identifier", "org.a.job.x", "--kind", "continued", "--json"]
        func status(_ environment: [String: String] = [:]) throws -> Int32 {
            try CommandRun(request, in: place, environment: bareMachine.merging(environment) { $1 }).end().status
        }
        #expect(try status() == 64)
        #expect(try status(["BGRUN_MANIFEST": "app.yml"]) == 0)
        #expect(try status(["BGRUN_MANIFEST": "none.yml"]) == 66)
        try place.write(Self.manifest, to: "bgrun-tasks.yml")
        #expect(try status() == 0)
    }

    @Test("Submitting without a dry run says whose business that is")
    func submit() throws {
        let ended = try place.bgrun(
            "submit", "--manifest", "app.yml", "--identifier", "org.a.job.x", "--kind", "continued")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("by the program that does its work"))
        #expect(try place.bgrun("submit", "--dry-run").status == 64)
        try place.write("program: org\n", to: "bad.yml")
        let bad = try place.bgrun(
            "submit", "--dry-run", "--manifest", "bad.yml", "--identifier", "org.x", "--kind", "refresh")
        #expect(bad.status == 78)
        #expect(bad.errors.contains("bad.yml:1: program"))
    }

    @Test("Why tells what the journal knows of an export, and makes no journal by asking")
    func whyOfAnExport() throws {
        let unknown = try place.bgrun("why", "bgrun.export.0")
        #expect(unknown.status == 66)
        #expect(!place.exists(".state"))
        let photo = try #require(try Photos.small.get().first)
        try place.put(photo, at: "photos/a.jpg")
        #expect(try place.bgrun("export", "photos", "--out", "out").status == 0)
        let state = place.path + "/.state/bgrun/tasks.sqlite"
        #expect(FileManager.default.fileExists(atPath: state))
        let near = try place.bgrun("why", "bgrun.export.0000000000000000")
        #expect(near.status == 66)
        let store = try TaskStore(folder: place.path + "/.state/bgrun", program: "test")
        let name = try #require(try store.identifiers().first)
        let known = try place.bgrun("why", name)
        #expect(known.status == 0)
        #expect(known.output.contains("completed at"))
    }
}
