// swift-format-ignore-file: NeverForceUnwrap
import BackgroundTasks
import Foundation

// An app as one writes it against Apple's framework in Swift 5: nothing here is special to Linux.

/// Stands where an app delegate does.
public class FeedApp {
    public static let refreshIdentifier = "org.example.feed.refresh"
    public static let cleaningIdentifier = "org.example.feed.cleaning"

    public let feed = Feed()
    public private(set) var registered: [Bool] = []
    public private(set) var lastSubmissionError = ""

    public init() {}

    public func didFinishLaunching() {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: FeedApp.refreshIdentifier, using: nil) { task in
            self.handleAppRefresh(task: task as! BGAppRefreshTask)
        }
        let taken = BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.cleaningIdentifier, using: nil) {
            [weak self] task in
            guard let task = task as? BGProcessingTask else { return }
            self?.handleCleaning(task: task)
        }
        registered.append(taken)
    }

    public func didEnterBackground() {
        scheduleAppRefresh()
        scheduleCleaningIfNeeded()
    }

    func scheduleAppRefresh() {
        let request = BGAppRefreshTaskRequest(identifier: FeedApp.refreshIdentifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            lastSubmissionError = "refresh: \(error)"
        }
    }

    func scheduleCleaningIfNeeded() {
        let request = BGProcessingTaskRequest(identifier: FeedApp.cleaningIdentifier)
        request.requiresNetworkConnectivity = false
        request.requiresExternalPower = true
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch BGTaskScheduler.Error.notPermitted {
            lastSubmissionError = "not permitted"
        } catch BGTaskScheduler.Error.tooManyPendingTaskRequests {
            lastSubmissionError = "too many"
        } catch let error as BGTaskScheduler.Error where error.code == .unavailable {
            lastSubmissionError = "unavailable"
        } catch let error as NSError {
            lastSubmissionError = "\(error.domain) \(error.code)"
        }
    }

    func handleAppRefresh(task: BGAppRefreshTask) {
        scheduleAppRefresh()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operations = feed.operationsToLoadLatest()
        let last = operations.last!
        task.expirationHandler = {
            queue.cancelAllOperations()
        }
        last.completionBlock = {
            task.setTaskCompleted(success: !last.isCancelled)
        }
        queue.addOperations(operations, waitUntilFinished: false)
    }

    func handleCleaning(task: BGProcessingTask) {
        var wasExpired = false
        task.expirationHandler = {
            wasExpired = true
        }
        for _ in 0..<10 where !wasExpired {
            feed.removeOldest()
        }
        task.setTaskCompleted(success: !wasExpired)
    }
}

public class Feed {
    private let lock = NSLock()
    private var loads = 0
    private var removed = 0

    public var loadCount: Int { lock.withLock { loads } }
    public var removedCount: Int { lock.withLock { removed } }

    func operationsToLoadLatest() -> [Operation] {
        let fetch = BlockOperation { [weak self] in self?.noteLoad() }
        let merge = BlockOperation {}
        merge.addDependency(fetch)
        return [fetch, merge]
    }

    func noteLoad() { lock.withLock { loads += 1 } }
    func removeOldest() { lock.withLock { removed += 1 } }
}
