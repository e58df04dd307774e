import BackgroundService
import ServiceAPI
import TaskModel
import Testing

/// What the service takes, and what it refuses before the scheduler hears of it.
@Suite struct SubmissionTests {
    private let keeper: Keeper

    init() throws { keeper = try Keeper() }

    /// Submits work for as late as can be.
    @discardableResult
    private func submit(_ name: String, _ change: (inout JobSubmission) -> Void = { _ in }) throws(Refusal) -> UInt64 {
        var submission = JobSubmission(
            work: .command, arguments: ["true"], folder: keeper.folder, environment: [:], mode: .processing,
            title: "Work", name: name, earliestBegin: 1e12)
        change(&submission)
        return try keeper.keeper.submit(submission).id
    }

    private func refusal(_ name: String = "a", _ change: (inout JobSubmission) -> Void = { _ in }) -> Refusal? {
        do throws(Refusal) {
            try submit(name, change)
            return nil
        } catch {
            return error
        }
    }

    @Test("numbers that cannot be are refused", arguments: [Double.nan, .infinity, -.infinity, -5, 1e18])
    func badNumbers(number: Double) throws {
        #expect(refusal { $0.earliestBegin = number }?.code == "badNumber")
        #expect(refusal { $0.interval = number }?.code == "badNumber")
        #expect(refusal { $0.grace = number }?.code == "badNumber")
        #expect(keeper.keeper.activeCount == 0)
    }

    @Test func workIsNotRepeatedMoreOftenThanEverySecond() throws {
        let refused = try #require(refusal { $0.interval = 0.5 })
        #expect(refused.sentence.contains("interval") && refused.sentence.contains("0.5"))
        #expect(refusal { $0.interval = 1 } == nil)
    }

    @Test func rightsThatNoFileHasAreRefused() {
        #expect(refusal { $0.umask = 0o1000 }?.code == "badNumber")
        #expect(refusal { $0.umask = 0o777 } == nil)
    }

    @Test("rule 47: memory that nothing can have is refused", arguments: [Int.min, -1, .max])
    func badMemory(bytes: Int) throws {
        #expect(refusal { $0.memoryBytes = bytes }?.code == "claimImpossible")
        try submit("b") { $0.memoryBytes = 1 << 20 }
    }

    @Test("rule 2: names that are none are refused, however long they are, and others are taken after them")
    func badNames() throws {
        for name in ["*", "a.*", "a b"] + [String](repeating: String(repeating: "a", count: 100_000), count: 3) {
            #expect(refusal(name)?.code == "identifierShape")
        }
        try submit("a")
    }

    @Test("rule 3: a name is permitted for as long as its job has not ended")
    func namesOfJobsThatHaveEndedAreForgotten() throws {
        let first = try submit("photos.one")
        let second = try submit("photos.two")
        _ = try keeper.keeper.ask(first, .cancel)
        try submit("other")
        let sentence = try #require(refusal("photos two")?.sentence)
        #expect(sentence.contains("photos.two") && !sentence.contains("photos.one"))
        try submit("photos.one")
        #expect(try keeper.job(second).state == .waiting)
    }
}
