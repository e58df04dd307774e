import BackgroundTasks
import Foundation
import Testing

@Suite struct RequestTests {
    @Test("rule 12: types and defaults are those of Apple's framework")
    func defaults() {
        let refresh = BGAppRefreshTaskRequest(identifier: "a")
        #expect(refresh.identifier == "a")
        #expect(refresh.earliestBeginDate == nil)
        let processing = BGProcessingTaskRequest(identifier: "b")
        #expect(!processing.requiresNetworkConnectivity)
        #expect(!processing.requiresExternalPower)
        #expect(
            BGHealthResearchTaskRequest(identifier: "c").protectionTypeOfRequiredData
                == .completeUntilFirstUserAuthentication)
        let continued = BGContinuedProcessingTaskRequest(identifier: "d", title: "T", subtitle: "S")
        #expect(continued.title == "T" && continued.subtitle == "S")
        #expect(continued.strategy == .queue)
        #expect(continued.requiredResources == [])
        #expect(continued.preferredResources == [])
    }

    @Test("rule 12: raw values are those of Apple's framework")
    func rawValues() {
        #expect(BGContinuedProcessingTaskRequest.SubmissionStrategy.fail.rawValue == 0)
        #expect(BGContinuedProcessingTaskRequest.SubmissionStrategy.queue.rawValue == 1)
        #expect(BGContinuedProcessingTaskRequest.Resources.gpu.rawValue == 1)
        #expect(BGTaskScheduler.Error.Code.unavailable.rawValue == 1)
        #expect(BGTaskScheduler.Error.Code.tooManyPendingTaskRequests.rawValue == 2)
        #expect(BGTaskScheduler.Error.Code.notPermitted.rawValue == 3)
        #expect(BGTaskScheduler.Error.Code.immediateRunIneligible.rawValue == 4)
        #expect(BGTaskScheduler.errorDomain == "BGTaskSchedulerErrorDomain")
    }

    @Test("rule 13: a copy of a request says the same in everything")
    func copies() throws {
        let original = BGContinuedProcessingTaskRequest(identifier: "d", title: "T", subtitle: "S")
        original.strategy = .fail
        original.requiredResources = .gpu
        original.preferredResources = .gpu
        original.devices = .init(ordered: ["x"], excluded: ["y"], avoidsDisplay: true)
        original.slowPolicy = .stop
        original.earliestBeginDate = Date(timeIntervalSince1970: 1_800_000_000.25)
        original.requestKey = "key"
        original.claim = .init(memoryBytes: 1, deviceMemoryBytes: 2)
        original.initiator = .dashboard
        original.conditionsThatMustBeKnown = [.network, .idle]
        original.expectedWork = .seconds(90)
        let copy = try #require(original.copy() as? BGContinuedProcessingTaskRequest)
        #expect(copy !== original)
        #expect(copy.title == "T" && copy.subtitle == "S" && copy.identifier == "d")
        #expect(copy.strategy == .fail && copy.requiredResources == .gpu && copy.preferredResources == .gpu)
        #expect(copy.devices == original.devices && copy.slowPolicy == .stop)
        #expect(copy.earliestBeginDate == original.earliestBeginDate)
        #expect(copy.requestKey == "key" && copy.claim == original.claim && copy.initiator == .dashboard)
        #expect(copy.conditionsThatMustBeKnown == [.network, .idle] && copy.expectedWork == .seconds(90))
    }

    @Test(
        "rule 14: a begin date that is none, or beyond all calendars, is no fault",
        arguments: [
            (.nan, 0), (.infinity, 1e12), (1e300, 1e12), (-.infinity, -1e12), (2.5e11, 2.5e11),
        ] as [(Double, Double)])
    func farDates(seconds: Double, taken: Double) throws {
        let original = BGProcessingTaskRequest(identifier: "b")
        original.earliestBeginDate = Date(timeIntervalSince1970: seconds)
        let copy = try #require(original.copy() as? BGProcessingTaskRequest)
        let date = try #require(copy.earliestBeginDate)
        #expect(abs(date.timeIntervalSince1970 - taken) < 1)
    }

    @Test("rule 13: a copy has the class of its original")
    func classes() throws {
        let research = BGHealthResearchTaskRequest(identifier: "r")
        research.protectionTypeOfRequiredData = .complete
        research.requiresExternalPower = true
        research.requiresIdle = false
        let copy = try #require(research.copy() as? BGHealthResearchTaskRequest)
        #expect(copy.protectionTypeOfRequiredData == .complete && copy.requiresExternalPower && !copy.requiresIdle)
        #expect(BGAppRefreshTaskRequest(identifier: "a").copy() is BGAppRefreshTaskRequest)
        let processing = try #require(BGProcessingTaskRequest(identifier: "p").copy() as? BGProcessingTaskRequest)
        #expect(!(processing is BGHealthResearchTaskRequest))
    }
}
