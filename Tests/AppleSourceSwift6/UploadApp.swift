// swift-format-ignore-file: NeverForceUnwrap
import BackgroundTasks
import Dispatch
import Foundation

// The same in Swift 6, where the app's delegate belongs to the main actor.

@MainActor
public final class UploadApp {
    public static let refreshIdentifier = "org.example.upload.refresh"

    public private(set) var refreshes = 0
    public private(set) var uploaded: [String] = []
    public private(set) var pending: [String] = []
    private var work: Task<Void, Never>?

    public init() {}

    public func didFinishLaunching() {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.refreshIdentifier, using: .main) { task in
            MainActor.assumeIsolated {
                self.handleAppRefresh(task: task as! BGAppRefreshTask)
            }
        }
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "org.example.upload.batch.*", using: nil) { task in
            let task = task as! BGContinuedProcessingTask
            Task { await self.upload(task) }
        }
    }

    public func scheduleAppRefresh() throws {
        let request = BGAppRefreshTaskRequest(identifier: Self.refreshIdentifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 60)
        try BGTaskScheduler.shared.submit(request)
    }

    public func uploadButtonTapped(_ name: String) async throws {
        let request = BGContinuedProcessingTaskRequest(
            identifier: "org.example.upload.batch.\(name)", title: "Uploading", subtitle: name)
        request.strategy = .queue
        try await BGTaskScheduler.shared.submitTaskRequest(request)
    }

    public func readPending() async {
        pending = await BGTaskScheduler.shared.pendingTaskRequests().map(\.identifier)
    }

    private func handleAppRefresh(task: BGAppRefreshTask) {
        let work = Task {
            refreshes += 1
            task.setTaskCompleted(success: !Task.isCancelled)
        }
        task.expirationHandler = { work.cancel() }
    }

    private func upload(_ task: BGContinuedProcessingTask) async {
        task.progress.totalUnitCount = 3
        for part in 1...3 {
            await Task.yield()
            task.progress.completedUnitCount = Int64(part)
            task.updateTitle("Uploading", subtitle: "Part \(part) of 3")
        }
        uploaded.append(task.identifier)
        task.setTaskCompleted(success: task.progress.isFinished)
    }
}
