import Dispatch
import Foundation
import Locking

/// Asks file systems for their room, and gives up those that do not answer: one on a server that is gone may never do so,
/// and a thread that waits for it cannot even be ended.
package final class VolumeQuestions: Sendable {
    private final class Question: Sendable {
        let answer = Lock<Int?>(nil)
        let group = DispatchGroup()
        let wasGivenUp = Lock(false)

        init() {
            // Before anybody else can wait for it.
            group.enter()
        }
    }

    private let deadline: Duration
    private let ask: VolumeReader.FreeBytes
    private let open = Lock<[String: Question]>([:])

    /// - Parameters:
    ///   - deadline: For one answer.
    ///   - ask: May block for ever.
    package init(deadline: Duration = .milliseconds(500), _ ask: @escaping VolumeReader.FreeBytes) {
        self.deadline = deadline
        self.ask = ask
    }

    /// Bytes that this user may still write to the volume of a folder; nil when that cannot be told in time.
    package func freeBytes(_ folder: String) -> Int? {
        let (question, isNew) = open.withLock { open in
            if let question = open[folder] { return (question, false) }
            let question = Question()
            open[folder] = question
            return (question, true)
        }
        // One thread at most waits for a volume, however often it is asked about, and nobody else waits a second time.
        if isNew { start(question, folder) } else if question.wasGivenUp.withLock(\.self) { return nil }
        let seconds = deadline / .seconds(1)
        guard question.group.wait(timeout: .now() + seconds) == .success else {
            question.wasGivenUp.withLock { $0 = true }
            return nil
        }
        return question.answer.withLock(\.self)
    }

    private func start(_ question: Question, _ folder: String) {
        let thread = Thread { [ask, self] in
            let bytes = ask(folder)
            question.answer.withLock { $0 = bytes }
            open.withLock { $0[folder] = nil }
            question.group.leave()
        }
        thread.start()
    }
}
