import SchedulingCore
import TaskModel
import Testing

@Suite struct SubmissionTests {
    @Test("rule 55: a sound continued request starts at once, and its handler is called once")
    func startsAtOnce() throws {
        var bench = Bench()
        let admission = try bench.submit(Bench.request("cont.x", .continued)).get()
        #expect(admission.isRunning)
        #expect(admission.position == 0)
        #expect(admission.reasons.isEmpty)
        bench.advance(by: .seconds(10))
        #expect(bench.launches(of: admission.id).count == 1)
    }

    @Test(
        "rule 2: a malformed identifier is not permitted",
        arguments: [
            "export", "org.example", "org.example.", "org.exampleexport.a", "Org.example.export", "org.example..a",
            "org.example.a.", "org.example.a b", "org.example.ä", "org.example." + String(repeating: "a", count: 123),
        ])
    func malformedIdentifier(identifier: String) {
        var bench = Bench()
        let rejection = bench.rejection(TaskRequest(identifier: TaskIdentifier(identifier), kind: .continued))
        #expect(rejection?.code == .notPermitted)
        #expect(rejection?.first.detail == "identifierShape")
    }

    @Test("rule 2: names like a malformed one are told, but none is sought for one that is too long to be one of them")
    func closestNames() {
        var bench = Bench()
        let near = bench.rejection(Bench.request("p1 ", .processing))
        #expect(near?.sentence.contains("Closest: \"org.example.p1\"") == true)
        let long = bench.rejection(Bench.request(String(repeating: "a", count: 200), .processing))
        #expect(long?.first.detail == "identifierShape")
        #expect(long?.sentence.contains("Closest") == false)
    }

    @Test(
        "rule 47: a claim that cannot be is refused, and what others claim counts as before",
        arguments: [Int.min, -1, .max])
    func impossibleClaim(bytes: Int) throws {
        var bench = Bench(devices: [Bench.gpu])
        for claim in [TaskRequest.Claim(memoryBytes: bytes), .init(deviceMemoryBytes: bytes)] {
            let rejection = bench.rejection(Bench.request("cont.x", .continued) { $0.claim = claim })
            #expect(rejection?.code == .notPermitted)
            #expect(rejection?.failures.map(\.detail) == ["claimImpossible"])
        }
        let first = try bench.admit("cont.y", .continued) { $0.claim.memoryBytes = 5 << 30 }
        let second = try bench.admit("cont.z", .continued) { $0.claim.memoryBytes = 5 << 30 }
        #expect(bench.state(first) == .running)
        #expect(bench.reasons(second) == ["memoryClaim"])
    }

    @Test("rule 47: the largest claims are added up where nobody knows what is free")
    func largestClaims() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 100
        var bench = Bench(settings: settings)
        bench.conditions { $0.availableMemoryBytes = nil }
        for index in 0..<100 {
            let id = try bench.admit("cont.\(index)", .continued) { $0.claim.memoryBytes = 1 << 50 }
            #expect(bench.state(id) == .running)
        }
    }

    @Test(
        "rule 20, A13: a required GPU that is missing is refused at submission with every cause, and nothing is stored")
    func missingGPU() {
        let absences = [
            ResourceAbsence(resource: .gpu, code: "noRenderPermission", sentence: "No access.", fix: "Join render."),
            ResourceAbsence(resource: .gpu, code: "onlyCPUDevices", sentence: "Only CPUs.", fix: "Install a driver."),
        ]
        var bench = Bench(absences: absences)
        let rejection = bench.rejection(Bench.request("cont.x", .continued) { $0.requiredResources = .gpu })
        #expect(rejection?.code == .notPermitted)
        #expect(rejection?.failures.map(\.detail) == ["noRenderPermission", "onlyCPUDevices"])
        #expect(rejection?.failures.allSatisfy { !$0.sentence.isEmpty && !$0.fix.isEmpty } == true)
        #expect(bench.core.jobs().isEmpty)
    }

    @Test func aMissingResourceWithoutAKnownCauseStillHasASentence() {
        var bench = Bench()
        let rejection = bench.rejection(Bench.request("cont.x", .continued) { $0.requiredResources = .gpu })
        #expect(rejection?.sentence.isEmpty == false)
    }

    @Test func aSupportedGPUIsGranted() throws {
        var bench = Bench(devices: [Bench.gpu])
        let id = try bench.admit("cont.x", .continued) { $0.requiredResources = .gpu }
        #expect(bench.launches(of: id).first?.device == "gpu0")
    }

    @Test("rule 16: continued work of the same identifier does not run twice; processing may queue its next run")
    func alreadyRunning() throws {
        var bench = Bench()
        _ = try bench.admit("cont.x", .continued)
        #expect(bench.rejection(Bench.request("cont.x", .continued))?.first.detail == "alreadyRunning")
        let first = try bench.admit("a", .processing)
        #expect(bench.state(first) == .running)
        let second = try bench.admit("a", .processing)
        #expect(bench.state(second) == .waiting)
        bench.tell { $0.completed(first, success: true, at: $1) }
        #expect(bench.state(second) == .running)
    }

    @Test("rule 23, A14, A16: fail refuses what cannot start at once and stores nothing")
    func failStrategy() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        var bench = Bench(settings: settings)
        _ = try bench.admit("cont.first", .continued)
        let rejection = bench.rejection(Bench.request("cont.x", .continued) { $0.strategy = .fail })
        #expect(rejection?.code == .immediateRunIneligible)
        #expect(rejection?.sentence.contains("org.example.cont.first") == true, "it names the holder")
        #expect(bench.core.waitingCount == 0)
    }

    @Test("rule 24, A15: queue goes to the back of its class, and its position can be read at once")
    func queueStrategy() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        var bench = Bench(settings: settings)
        let first = try bench.admit("cont.first", .continued)
        let second = try bench.submit(Bench.request("cont.second", .continued)).get()
        let third = try bench.submit(Bench.request("cont.third", .continued)).get()
        #expect(second.position == 0)
        #expect(third.position == 1)
        #expect(third.reasons.map(\.code) == [.noRoom])
        bench.tell { $0.completed(first, success: true, at: $1) }
        #expect(bench.state(second.id) == .running)
        #expect(bench.state(third.id) == .waiting)
    }

    @Test("rule 17, A8: a program may have one refresh, ten processing and 64 continued requests pending")
    func pendingLimits() throws {
        var bench = Bench(conditions: Conditions(lowPowerMode: true))
        for index in 0..<10 { _ = try bench.admit("p\(index)", .processing) }
        #expect(bench.rejection(Bench.request("p10", .processing))?.code == .tooManyPendingTaskRequests)
        _ = try bench.admit("refresh", .refresh)
        #expect(bench.rejection(Bench.request("a", .refresh))?.code == .tooManyPendingTaskRequests)
        for index in 0..<64 { _ = try bench.admit("cont.\(index)", .continued) { $0.initiator = .script } }
        let last = bench.rejection(Bench.request("cont.64", .continued) { $0.initiator = .script })
        #expect(last?.code == .tooManyPendingTaskRequests)
        #expect(bench.rejection(Bench.request("p3", .processing)) == nil, "replacing one needs no further place")
    }

    @Test("rule 18: the checks run in their fixed order, the first failure gives the code, and all are told")
    func allFailures() throws {
        var settings = SchedulerSettings()
        settings.cpuSlots = 1
        var bench = Bench(settings: settings, grants: [], modes: [.processing])
        _ = try bench.admit("a", .processing)
        bench.tell { $0.setBackgroundStatus(.denied, program: nil, at: $1) }
        let rejection = bench.rejection(
            TaskRequest(
                identifier: TaskIdentifier("nonsense"), kind: .continued, strategy: .fail, requiredResources: .gpu))
        #expect(rejection?.code == .notPermitted)
        let details = rejection?.failures.map(\.detail) ?? []
        #expect(
            details.prefix(5) == [
                "identifierShape", "modeMissing", "backgroundSwitchedOff", "grantMissing", "unsupportedResources",
            ])
    }
}
