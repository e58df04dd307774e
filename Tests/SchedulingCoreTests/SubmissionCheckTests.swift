import SchedulingCore
import TaskModel
import Testing

@Suite struct SubmissionCheckTests {
    private func request(
        _ identifier: String = "bgrun.export.a", strategy: ContinuedProcessingRequest.Strategy = .queue,
        requires: ComputeResources = []
    ) -> ContinuedProcessingRequest {
        ContinuedProcessingRequest(
            identifier: TaskIdentifier(identifier), title: "Export", subtitle: "", strategy: strategy,
            requiredResources: requires)
    }

    private func rejection(_ check: SubmissionCheck, _ request: ContinuedProcessingRequest) -> Rejection? {
        guard case .failure(let rejection) = check.check(request) else { return nil }
        return rejection
    }

    @Test func aSoundRequestStartsAtOnce() {
        let check = SubmissionCheck(program: "bgrun", supported: [])
        #expect(check.check(request()) == .success(.init(position: 0)))
    }

    @Test(arguments: [
        "export", "bgrun", "bgrun.", "bgrunexport.a", "Bgrun.export", "bgrun..a", "bgrun.a.", "bgrun.a b", "bgrun.ä",
        "bgrun." + String(repeating: "a", count: 123),
    ])
    func aMalformedIdentifierIsNotPermitted(identifier: String) {
        let check = SubmissionCheck(program: "bgrun", supported: .gpu)
        let rejection = rejection(check, request(identifier))
        #expect(rejection?.code == .notPermitted)
        #expect(rejection?.first.detail == "identifierShape")
    }

    @Test func aRequiredGPUThatIsMissingIsRefusedWithEveryCause() {
        let absences = [
            ResourceAbsence(resource: .gpu, code: "noRenderPermission", sentence: "No access.", fix: "Join render."),
            ResourceAbsence(resource: .gpu, code: "onlyCPUDevices", sentence: "Only CPUs.", fix: "Install a driver."),
        ]
        let check = SubmissionCheck(program: "bgrun", supported: [], absences: absences)
        let rejection = rejection(check, request(requires: .gpu))
        #expect(rejection?.code == .notPermitted)
        #expect(rejection?.failures.map(\.detail) == ["noRenderPermission", "onlyCPUDevices"])
        #expect(rejection?.failures.allSatisfy { !$0.sentence.isEmpty && !$0.fix.isEmpty } == true)
    }

    @Test func aMissingResourceWithoutAKnownCauseStillHasASentence() {
        let check = SubmissionCheck(program: "bgrun", supported: [])
        #expect(rejection(check, request(requires: .gpu))?.sentence.isEmpty == false)
    }

    @Test func aSupportedGPUIsGranted() {
        let check = SubmissionCheck(program: "bgrun", supported: .gpu)
        #expect(rejection(check, request(requires: .gpu)) == nil)
    }

    @Test func theSameIdentifierDoesNotRunTwice() {
        let check = SubmissionCheck(program: "bgrun", supported: [], running: [TaskIdentifier("bgrun.export.a")])
        #expect(rejection(check, request())?.first.detail == "alreadyRunning")
    }

    @Test func failRefusesWhatCannotStartAtOnceAndQueuePutsItAtTheBack() {
        let check = SubmissionCheck(
            program: "bgrun", supported: [], running: [TaskIdentifier("bgrun.other")], waiting: 2)
        #expect(rejection(check, request(strategy: .fail))?.code == .immediateRunIneligible)
        #expect(check.check(request(strategy: .queue)) == .success(.init(position: 3)))
    }

    @Test func aFullQueueRefuses() {
        let check = SubmissionCheck(
            program: "bgrun", supported: [], running: [TaskIdentifier("bgrun.other")], waiting: 5, maxWaiting: 5)
        #expect(rejection(check, request())?.code == .tooManyPendingTaskRequests)
    }

    @Test func allFailuresAreToldAndTheFirstGivesTheCode() {
        let check = SubmissionCheck(program: "bgrun", supported: [], running: [TaskIdentifier("bgrun.other")])
        let rejection = rejection(check, request("nonsense", strategy: .fail, requires: .gpu))
        #expect(rejection?.code == .notPermitted)
        #expect(rejection?.failures.map(\.detail) == ["identifierShape", "unsupportedResources", "busy"])
    }
}
