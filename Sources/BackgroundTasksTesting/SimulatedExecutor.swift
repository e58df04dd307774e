import Dispatch

/// Runs async handlers so that one can tell when all of them have returned or wait for something.
final class SimulatedExecutor: TaskExecutor {
    private let calls: DispatchGroup
    private let queue = DispatchQueue(label: "bgrun.simulated.handlers", attributes: .concurrent)

    /// - Parameter calls: Is entered while a piece of a handler is ready to run or runs.
    init(_ calls: DispatchGroup) {
        self.calls = calls
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async(group: calls) { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
