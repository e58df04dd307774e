import Glibc
import JobLink
import Locking

/// A worker that starts while the process of a job still makes sense of its command line, which takes as long.
///
/// The service has taken the job before it starts this process, so that its command line is known to be good.
enum EarlyWorker {
    private static let started = Lock<WorkerProcess?>(nil)

    /// To be called before there is another thread.
    static func begin(_ arguments: [String]) {
        guard JobChannelOption.isIn(arguments) else { return }
        let worker = try? WorkerProcess()
        started.withLock { $0 = worker }
    }

    /// Hands it over, once.
    static func take() -> WorkerProcess? {
        started.withLock { started in
            defer { started = nil }
            return started
        }
    }
}
