import AppleSourceSwift5
import AppleSourceSwift6
import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import Testing

/// Code written for Apple's framework, unchanged, on a simulated machine that stands in for `BGTaskScheduler.shared`.
@Suite(.serialized) struct AppleSourceTests {
    /// The app's dates come from the real clock, so the simulated one starts there.
    private func feedMachine(gpus: [SimulatedGPU] = []) throws -> SimulatedMachine {
        try SimulatedMachine(
            program: "org.example.feed", modes: [.refresh, .processing, .continued],
            permittedIdentifiers: [
                "org.example.feed.refresh", "org.example.feed.cleaning", "org.example.feed.export.*",
            ],
            grants: [.gpu], gpus: gpus, startingAt: Date())
    }

    /// Listens first and looks then, so that an end between the two is not missed.
    private func outcome(of identifier: String, on machine: SimulatedMachine) async -> BGTaskScheduler.Outcome? {
        let events = machine.scheduler.events()
        if let ended = machine.scheduler.jobs().last(where: { $0.identifier == identifier && $0.state == .ended }) {
            return ended.outcome
        }
        for await event in events where event.identifier == identifier {
            if case .ended(let outcome) = event.kind { return outcome }
        }
        return nil
    }

    @Test("rule 12, A9: an app in Swift 5 registers, submits and refreshes with operations, and schedules its next run")
    func refresh() async throws {
        let machine = try feedMachine()
        try await machine.standingInForShared {
            let app = FeedApp()
            app.didFinishLaunching()
            #expect(app.registered == [true])
            app.didEnterBackground()
            #expect(app.lastSubmissionError == "")
            #expect(await outcome(of: FeedApp.cleaningIdentifier, on: machine) == .completed(failures: 0))
            #expect(app.feed.removedCount == 10)
            let pending = await machine.scheduler.pendingTaskRequests()
            #expect(pending.map(\.identifier) == [FeedApp.refreshIdentifier])
            machine.clock.setWallClock(to: try #require(pending.first?.earliestBeginDate))
            #expect(await outcome(of: FeedApp.refreshIdentifier, on: machine) == .completed(failures: 0))
            #expect(app.feed.loadCount == 1)
            #expect(await machine.scheduler.pendingTaskRequests().map(\.identifier) == [FeedApp.refreshIdentifier])
        }
    }

    @Test("rule 74, A24: the operations of an app in Swift 5 are cancelled when its time ends")
    func expired() async throws {
        let machine = try feedMachine()
        await machine.standingInForShared {
            let app = FeedApp()
            app.didFinishLaunching()
            app.didEnterBackground()
            machine.scheduler.simulateLaunch(forTaskWithIdentifier: FeedApp.refreshIdentifier)
            machine.scheduler.simulateExpiration(forTaskWithIdentifier: FeedApp.refreshIdentifier)
            // Either its operations were done before the expiration, or they were cancelled by it.
            let ended = await outcome(of: FeedApp.refreshIdentifier, on: machine)
            #expect(ended == .completed(failures: 0) || ended == .stopped(.simulated))
        }
    }

    @Test("A12, A13: an app in Swift 5 tells the errors of a submission apart")
    func errors() async throws {
        let machine = try feedMachine()
        await machine.standingInForShared {
            let app = FeedApp()
            app.didEnterBackground()
            #expect(app.lastSubmissionError == "not permitted")
            app.didFinishLaunching()
            machine.scheduler.setBackgroundEnabled(false)
            app.didEnterBackground()
            #expect(app.lastSubmissionError == "unavailable")
        }
    }

    @Test("A17, A18, A19: continued work of an app in Swift 5 runs to its end with progress and titles")
    func export() async throws {
        let machine = try feedMachine(gpus: [SimulatedGPU()])
        await machine.standingInForShared {
            let controller = ExportController()
            controller.exportButtonTapped(items: 50, usesGPU: true)
            #expect(await outcome(of: "org.example.feed.export.first", on: machine) == .completed(failures: 0))
            #expect(controller.statuses == ["100% done"])
        }
    }

    @Test("A10: an app in Swift 5 lists and cancels what is pending")
    func pending() async throws {
        let machine = try feedMachine()
        await machine.standingInForShared {
            let app = FeedApp()
            app.didFinishLaunching()
            machine.conditions.change { $0.power = .battery }
            app.didEnterBackground()
            let controller = ExportController()
            let listed = await withCheckedContinuation { continuation in
                controller.listPending { continuation.resume(returning: $0) }
            }
            #expect(listed == [FeedApp.refreshIdentifier, FeedApp.cleaningIdentifier])
            #expect(await controller.pendingIdentifiers() == listed)
            controller.cancelEverything()
            #expect(await controller.pendingIdentifiers() == [])
        }
    }

    @MainActor
    @Test("rule 25, A5, A11: an app of the main actor in Swift 6 registers, submits and completes")
    func mainActor() async throws {
        let machine = try SimulatedMachine(
            program: "org.example.upload", modes: [.refresh, .continued],
            permittedIdentifiers: ["org.example.upload.refresh", "org.example.upload.batch.*"], startingAt: Date())
        try await machine.standingInForShared {
            let app = UploadApp()
            app.didFinishLaunching()
            try app.scheduleAppRefresh()
            await app.readPending()
            #expect(app.pending == [UploadApp.refreshIdentifier])
            try await app.uploadButtonTapped("one")
            #expect(await outcome(of: "org.example.upload.batch.one", on: machine) == .completed(failures: 0))
            #expect(app.uploaded == ["org.example.upload.batch.one"])
            machine.scheduler.simulateLaunch(forTaskWithIdentifier: UploadApp.refreshIdentifier)
            #expect(await outcome(of: UploadApp.refreshIdentifier, on: machine) == .completed(failures: 0))
            #expect(app.refreshes == 1)
        }
    }
}
