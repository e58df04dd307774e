import BackgroundService
import Foundation
import ServiceAPI
import TaskModel
import Testing

/// What those who follow a job are told.
@Suite struct JobEventTests {
    @Test(.timeLimit(.minutes(15)))
    func aQuietListenerIsToldOfEverythingButProgress() async throws {
        let service = try Keeper()
        let go = service.folder + "/go"
        let job = try service.submit(
            """
            while ! [ -e '\(go)' ]; do sleep 0.01; done
            echo progress 1 2 >&$BGRUN_PROGRESS_FD; echo note look >&$BGRUN_PROGRESS_FD
            """)
        let loud = try service.keeper.events(of: job, after: 0, isWaiting: false, isQuiet: false)
        let quiet = try service.keeper.events(of: job, after: 0, isWaiting: false, isQuiet: true)
        #expect(FileManager.default.createFile(atPath: go, contents: nil))
        var told: [[JobEvent]] = []
        for listener in [loud, quiet] {
            var events: [JobEvent] = []
            for await event in listener.stream { events.append(event) }
            listener.leave()
            told.append(events)
        }
        #expect(told[0].contains { $0.kind == .progress && $0.progress?.fraction == 0.5 })
        #expect(told[1].last?.kind == .ended && told[1].contains { $0.kind == .note && $0.text == "look" })
        #expect(told[1].map(\.id) == told[0].filter { $0.kind != .progress }.map(\.id))
    }
}
