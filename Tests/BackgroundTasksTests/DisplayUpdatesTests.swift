import BackgroundTasks
import TaskModel
import Testing

@Suite struct DisplayUpdatesTests {
    @Test("rule 66: a change is told at once, later ones ten times a second, and the last one always")
    func thinned() {
        var updates = DisplayUpdates()
        let job = JobID(1)
        var told: [Duration] = []
        for millisecond in 0..<1_000 {
            let now = Duration.milliseconds(millisecond)
            if updates.due(at: now) == [job] { told.append(now) }
            if updates.changed(job, at: now) { told.append(now) }
        }
        #expect(told.first == .zero)
        #expect(told.count == 10)
        let last = updates.nextDeadline
        #expect(last == .milliseconds(1_000))
        let due = updates.due(at: .milliseconds(1_000))
        #expect(due == [job])
        #expect(updates.nextDeadline == nil)
        let later = updates.due(at: .seconds(9))
        #expect(later.isEmpty)
    }

    @Test("rule 66: no change is held back for longer than 250 ms")
    func prompt() {
        var updates = DisplayUpdates()
        for millisecond in stride(from: 0, to: 2_000, by: 7) {
            let now = Duration.milliseconds(millisecond)
            _ = updates.due(at: now)
            _ = updates.changed(JobID(1), at: now)
            if let deadline = updates.nextDeadline { #expect(deadline - now <= .milliseconds(250)) }
        }
    }

    @Test("rule 66: jobs do not hold each other back")
    func apart() {
        var updates = DisplayUpdates()
        let first = (updates.changed(JobID(1), at: .zero), updates.changed(JobID(2), at: .zero))
        #expect(first == (true, true))
        let again = updates.changed(JobID(1), at: .milliseconds(1))
        #expect(!again)
        updates.forget(JobID(1))
        #expect(updates.nextDeadline == nil)
    }
}
