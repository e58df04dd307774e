import NIOCore
import NIOPosix

/// The threads of the service: all of them sleep while there is nothing to do. Swift's own pool and Dispatch's global
/// queues are looked after once a second for as long as the process lives.
enum OwnThreads {
    /// Where tasks run, none of which blocks.
    static let tasks: some TaskExecutor = LoopExecutor(loop: MultiThreadedEventLoopGroup.singleton.any())

    private final class LoopExecutor: TaskExecutor {
        private let loop: any EventLoop

        init(loop: any EventLoop) { self.loop = loop }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// For requests that wait for drivers or the disk.
    private static let blocking: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 4)
        pool.start()
        return pool
    }()

    /// Does something that may block again and again, first after `interval`, until what is returned is cancelled.
    /// `Task.sleep` would wake Swift's own pool.
    static func every(_ interval: Duration, _ work: @escaping @Sendable () -> Void) -> RepeatedTask {
        let delay = TimeAmount(interval)
        return MultiThreadedEventLoopGroup.singleton.any().scheduleRepeatedTask(initialDelay: delay, delay: delay) {
            _ in
            blocking.submit { _ in work() }
        }
    }

    /// Does what may block away from the threads that tasks run on.
    static func block<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await withCheckedContinuation { continuation in
            blocking.submit { _ in
                do throws(Failure) {
                    continuation.resume(returning: .success(try work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }
}
