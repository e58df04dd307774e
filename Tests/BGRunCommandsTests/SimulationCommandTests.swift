import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import ProgramLink
import Testing

/// `bgrun poke` and `bgrun simulate happen`.
@Suite struct SimulationCommandTests {
    private let service: ServicePlace
    private var place: TestPlace { service.place }

    init() throws {
        service = try ServicePlace(environment: ["BGRUN_SIMULATION": "1"])
    }

    private func happen(_ arguments: String...) throws -> CommandRun.Ended {
        try service.start(["simulate", "happen"] + arguments).end()
    }

    private func state(_ job: Int = 1) throws -> String? { try service.job(job)["state"] as? String }

    @Test("rule 100: bgrun poke reaches a program that runs, three times an hour, merged")
    func poke() async throws {
        let programs = ProgramPlace(folder: place.path + "/.run/bgrun-programs")
        let machine = try SimulatedMachine(
            program: "org.example.mail", modes: [.refresh], permittedIdentifiers: ["org.example.mail.fetch"])
        let application = BGApplication(scheduler: machine.scheduler, queue: DispatchQueue(label: "main of the test"))
        let (heard, continuation) = AsyncStream.makeStream(of: [String: String].self)
        application.setRemoteNotificationHandler { payload, completion in
            continuation.yield(payload)
            completion(.newData)
        }
        let nobody = try service.bgrun("poke", "org.example.mail")
        #expect(nobody.status == 69)
        #expect(nobody.errors.hasPrefix("bgrun: No process of org.example.mail that can be asked anything runs."))
        machine.scheduler.openDoor(in: programs)
        for _ in 0..<3 {
            let told = try service.bgrun("poke", "org.example.mail", "folder=in=box")
            #expect(told.status == 0 && told.output == "org.example.mail has heard of it.\n", "\(told.errors)")
            await machine.settle()
        }
        let json = try service.bgrun("poke", "org.example.mail", "folder=sent", "--json").json()
        #expect(json["delay"] as? Double == 3_600 && json["processes"] as? Int == 1)
        let later = try service.bgrun("poke", "org.example.mail").output
        #expect(later == "org.example.mail hears of it in 1 h, merged with other pokes.\n")
        await machine.advance(by: .seconds(3_600))
        continuation.finish()
        var payloads: [[String: String]] = []
        for await payload in heard { payloads.append(payload) }
        #expect(payloads == Array(repeating: ["folder": "in=box"], count: 3) + [["folder": "sent"]])
        #expect(try service.bgrun("poke", "org.example.mail", "folder").status == 64)
        let off = try happen("lose", "network", "--program", "org.example.mail")
        #expect(off.status == 77 && off.errors.contains("BGRUN_SIMULATION=1"))
    }

    @Test("rule 99: a job of the service is launched before its time, and expired with a reason of choice")
    func launchAndExpire() throws {
        #expect(try service.bgrun("run", "--detach", "--title", "A", "--after", "1h", "--", "sleep", "600").status == 0)
        #expect(try happen("expire", "1").status == 66)
        #expect(try happen("launch", "1").output == "It has happened: launch 1.\n")
        #expect(try service.comes { try state() == "running" })
        #expect(try happen("expire", "1", "--reason", "quota").status == 0)
        #expect(try service.comes { try state() == "ended" })
        #expect(try service.job(1)["outcome"] as? String == "stopped.quota")
        #expect(try happen("launch", "1").status == 66)
        #expect(try happen("launch", "1", "--reason", "quota").status == 64)
        #expect(try happen("explode", "1").status == 64)
    }

    @Test("rule 99: conditions of the service are lost and met")
    func conditions() throws {
        func network() throws -> String? {
            let reasons = try service.job(1)["reasons"] as? [[String: Any]] ?? []
            return reasons.first { $0["code"] as? String == "condition.network" }?["measured"] as? String
        }
        #expect(try happen("lose", "network").status == 0)
        let run = try service.bgrun("run", "--detach", "--title", "A", "--requires-network", "--", "true")
        #expect(run.status == 0)
        #expect(try network() == "none")
        // It waits a while all the same: a condition that has just been lost is not trusted at once.
        #expect(try happen("meet", "network").status == 0)
        #expect(try network() == "unmetered")
        #expect(try service.bgrun("cancel", "1").status == 0)
        #expect(try happen("lose", "weather").errors.contains("externalPower"))
    }

    @Test("rule 99, rule 85: an export whose process crashes is taken up again by another one")
    func crash() throws {
        try place.putPhotos()
        let run = try service.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--detach", "--stall-limit", "1h",
            environment: ["BGRUN_TEST_HANG_ON": "photo-0003"])
        #expect(run.status == 0)
        #expect(try service.comes { try service.job(1)["process"] != nil })
        let first = try service.job(1)["process"] as? Int
        #expect(try happen("crash", "1").status == 0)
        #expect(
            try service.comes {
                let next = try service.job(1)["process"] as? Int
                return next != nil && next != first
            })
        #expect(try service.bgrun("cancel", "1").status == 0)
        #expect(try happen("crash", "7").status == 66)
    }

    @Test("rule 99: a job that hangs stands still and can still be killed")
    func hang() throws {
        #expect(try service.bgrun("run", "--detach", "--title", "A", "--", "sleep", "600").status == 0)
        #expect(try service.comes { try service.job(1)["process"] != nil })
        let process = try #require(try service.job(1)["process"] as? Int)
        #expect(try happen("hang", "1").status == 0)
        #expect(
            try service.comes {
                try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8).contains(") T ")
            })
        #expect(try service.bgrun("stop", "1").status == 0)
        #expect(try service.comes { try state() == "ended" })
    }

    @Test("rule 99: a service that was started without the variable lets nothing be simulated")
    func off() throws {
        let other = try ServicePlace()
        #expect(try other.bgrun("jobs").status == 0)
        let refused = try other.start(["simulate", "happen", "lose", "network"]).end()
        #expect(refused.status == 77 && refused.errors.contains("BGRUN_SIMULATION=1"), "\(refused.errors)")
    }
}
