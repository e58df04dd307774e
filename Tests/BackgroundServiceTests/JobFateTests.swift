import BackgroundService
import Glibc
import JobLink
import ServiceAPI
import TaskModel
import Testing

/// What the end of a process means for its job.
@Suite struct JobFateTests {
    private func fate(
        _ outcome: TaskOutcome? = nil, signal: Int32? = nil, status: Int32 = 0, work: JobSubmission.Work = .bgrun,
        isExpiring: Bool = false
    ) -> JobFate {
        JobFate(
            end: outcome.map { JobEnd(outcome: $0, status: 0, text: "", summary: "") }, signal: signal, status: status,
            work: work, isExpiring: isExpiring)
    }

    @Test func whatTheWorkSaysOfItsEndCounts() {
        #expect(fate(.completed(failures: 2)) == .completed(failures: 2))
        #expect(fate(.failed(code: "missingInput")) == .failed(code: "missingInput", sentence: nil))
        #expect(fate(.stopped(.userStop), isExpiring: true) == .stopped)
        #expect(
            fate(.stopped(.conditionLost(.outputVolume))) == .stoppedItself(.conditionLost(.outputVolume)),
            "nobody had asked it to stop")
    }

    @Test("rule 73: a process of bgrun's that broke off is tried again, whatever ended it")
    func brokenOffWorkIsTriedAgain() {
        guard case .brokeOff(let code, _) = fate(signal: SIGKILL) else {
            Issue.record("a killed worker has not broken off")
            return
        }
        #expect(code == "workerKilled.9")
        guard case .brokeOff = fate(status: 70) else {
            Issue.record("a worker that ended without a word has not broken off")
            return
        }
    }

    @Test func aCommandIsNotRunTwiceBecauseItDied() {
        guard case .failed(let code, _) = fate(signal: SIGSEGV, work: .command) else {
            Issue.record("a command that crashed has not failed")
            return
        }
        #expect(code == "signal.11")
    }

    @Test func aCommandsStatusDecides() {
        #expect(fate(work: .command) == .completed(failures: 0))
        #expect(fate(status: 75, work: .command) == .stoppedItself(.quota))
        guard case .failed("exit.3", _) = fate(status: 3, work: .command) else {
            Issue.record("status 3 is no failure")
            return
        }
    }

    @Test func whoWasAskedToStopHasStoppedHoweverItEnded() {
        #expect(fate(signal: SIGTERM, work: .command, isExpiring: true) == .stopped)
        #expect(fate(status: 1, work: .command, isExpiring: true) == .stopped)
        #expect(fate(signal: SIGKILL, isExpiring: true) == .stopped)
        #expect(
            fate(work: .command, isExpiring: true) == .completed(failures: 0), "it was done before it heard of it")
    }
}
