// swift-format-ignore-file: NeverForceUnwrap
import BackgroundTasks
import Foundation

/// Starts an export when a person asks for it, and shows how it goes.
public class ExportController {
    static let pattern = "org.example.feed.export.*"

    public private(set) var statuses: [String] = []
    private let lock = NSLock()

    public init() {}

    public func log(_ status: String) { lock.withLock { statuses.append(status) } }

    /// The handler of continued work may be registered when the work is asked for.
    public func exportButtonTapped(items: Int, job: String = "first", usesGPU: Bool = false) {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.pattern, using: nil) { task in
            let task = task as! BGContinuedProcessingTask
            var shouldContinue = true
            task.expirationHandler = {
                shouldContinue = false
            }
            task.progress.totalUnitCount = Int64(items)
            task.progress.completedUnitCount = 0
            while shouldContinue && !task.progress.isFinished {
                task.progress.completedUnitCount += 1
                let percent = Int(task.progress.fractionCompleted * 100)
                task.updateTitle(task.title, subtitle: "\(percent)% done")
            }
            self.log(task.subtitle)
            task.setTaskCompleted(success: shouldContinue)
        }
        let request = BGContinuedProcessingTaskRequest(
            identifier: "org.example.feed.export.\(job)", title: "Exporting", subtitle: "About to start")
        request.strategy = .fail
        if usesGPU, BGTaskScheduler.supportedResources.contains(.gpu) {
            request.requiredResources = .gpu
        }
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            switch (error as? BGTaskScheduler.Error)?.code {
            case .immediateRunIneligible: log("busy")
            case .notPermitted: log("not permitted")
            default: log("\(error)")
            }
        }
    }

    public func listPending(completion: @escaping ([String]) -> Void) {
        BGTaskScheduler.shared.getPendingTaskRequests { requests in
            completion(requests.map { $0.identifier })
        }
    }

    public func pendingIdentifiers() async -> [String] {
        await BGTaskScheduler.shared.pendingTaskRequests().map(\.identifier)
    }

    public func cancelEverything() {
        BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: FeedApp.refreshIdentifier)
        BGTaskScheduler.shared.cancelAllTaskRequests()
    }
}
