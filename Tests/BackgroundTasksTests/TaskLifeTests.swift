import BackgroundTasks
import TaskModel
import Testing

@Suite struct TaskLifeTests {
    private func running(_ handler: String?) -> TaskLife<String> {
        var life = TaskLife<String>()
        life.launchBegan()
        _ = life.setHandler(handler)
        return life
    }

    private func names(_ actions: [TaskLife<String>.Action]) -> [String] {
        actions.map {
            switch $0 {
            case .runHandler(let name): "run \(name)"
            case .complete(let success): "complete \(success)"
            case .note(let diagnostic): "note \(diagnostic.code)"
            }
        }
    }

    @Test("rule 70, A24: the expiration handler runs once and is cleared then")
    func once() {
        var life = running("h")
        let answer = life.expire(.timeBudget)
        #expect(names(answer) == ["run h"])
        #expect(life.handler == nil)
        let second = life.expire(.userStop)
        #expect(second.isEmpty)
        let third = life.setHandler("late")
        #expect(third == nil)
    }

    @Test("rule 70, A24: completing the task clears its handler")
    func completionClears() {
        var life = running("h")
        let answer = life.complete(success: true)
        #expect(names(answer) == ["complete true"])
        #expect(life.handler == nil)
        let second = life.expire(.timeBudget)
        #expect(second.isEmpty)
    }

    @Test("rule 69: the first reason is set before the handler runs, and stays")
    func reason() {
        var life = running("h")
        _ = life.expire(.conditionLost(.network))
        #expect(life.stopReason == .conditionLost(.network))
        _ = life.expire(.userStop)
        #expect(life.stopReason == .conditionLost(.network))
    }

    @Test("rule 72, A25: without a handler the task is complete and unsuccessful")
    func noHandler() {
        var life = running(nil)
        let answer = life.expire(.timeBudget)
        #expect(names(answer) == ["complete false"])
        #expect(life.isComplete)
    }

    @Test("rule 74: only the first completion counts, later ones are noted")
    func twice() {
        var life = running(nil)
        _ = life.complete(success: true)
        let answer = life.complete(success: false)
        #expect(names(answer) == ["note completedTwice"])
    }

    @Test("rule 70: a task that expires before its launch handler has begun gives it the chance to set a handler")
    func earlyExpiry() {
        var life = TaskLife<String>()
        let answer = life.expire(.userStop)
        #expect(answer.isEmpty)
        #expect(life.stopReason == .userStop)
        life.launchBegan()
        let second = life.setHandler("h")
        #expect(second == nil)
        let third = life.launchReturned()
        #expect(names(third) == ["run h"])

        var without = TaskLife<String>()
        _ = without.expire(.userStop)
        without.launchBegan()
        let fourth = without.launchReturned()
        #expect(names(fourth) == ["complete false"])
    }

    @Test("rule 10: cancelling stands for a handler where the work is a Swift task")
    func cancellable() {
        var life = TaskLife<String>(isCancellable: true)
        life.launchBegan()
        let answer = life.expire(.timeBudget)
        #expect(answer.isEmpty)
        #expect(!life.isComplete)
        let second = life.setHandler("late")
        #expect(second.map { names([$0]) } == ["run late"])
        let third = life.complete(success: false)
        #expect(names(third) == ["complete false"])
    }

    @Test("rule 79: a task that was ended from outside runs no handler and completes nothing")
    func ended() {
        var life = running("h")
        life.end()
        let answer = life.expire(.userStop)
        #expect(answer.isEmpty)
        #expect(life.handler == nil)
        let second = life.complete(success: true)
        #expect(names(second) == ["note completedTwice"])
    }
}
