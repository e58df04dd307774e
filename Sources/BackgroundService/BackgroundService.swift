import BackgroundTasks
import CProcess
import Foundation
import Glibc
import Hummingbird
import Locking
import SchedulingCore
package import ServiceAPI
import SystemText
import UnixSignals
import WorkerPriority
package import TaskStore

/// The service of one user: jobs that outlive the terminal they were started in.
package final class BackgroundService: Sendable {
    package static let version = "1"

    package struct Options: Sendable {
        /// It ends when nobody has needed it for so long; nil never.
        package var idleTime: Duration?
        /// Called once it takes requests.
        package var onReady: @Sendable () -> Void

        package init(idleTime: Duration?, onReady: @escaping @Sendable () -> Void) {
            self.idleTime = idleTime
            self.onReady = onReady
        }
    }

    private let keeper: JobKeeper
    private let place: ServicePlace
    private let options: Options
    private let started: Double
    private let ending: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
    let idleness: IdleWatch

    /// - Throws: ``StoreError`` where the store cannot be used.
    package init(
        _ machine: JobKeeper.Machine, store: TaskStore, place: ServicePlace, options: Options
    ) throws(StoreError) {
        let keeper = try JobKeeper(machine, store: store, place: place)
        self.keeper = keeper
        self.place = place
        self.options = options
        started = machine.clock.wallNow.inSeconds
        let ending = AsyncStream.makeStream(of: Void.self)
        self.ending = ending
        idleness = IdleWatch(
            clock: machine.clock, patience: options.idleTime, isNeeded: { keeper.activeCount > 0 },
            onEnd: { ending.continuation.finish() })
        let idleness = idleness
        keeper.whenIdle {
            idleness.check()
            Self.rest()
        }
    }

    /// Serves until it is told to end or nobody needs it, and then stops what runs. Blocks meanwhile; the process is to
    /// end afterwards, since whoever connects meanwhile is not answered any more.
    ///
    /// - Throws: What keeps it from listening.
    package func run() throws {
        let socket = ServiceSocket.standard(place.socket, environment: ProcessInfo.processInfo.environment)
        let failure = Lock<(any Error)?>(nil)
        let ended = DispatchSemaphore(value: 0)
        let responder = ServiceRouter.make(keeper, self).buildResponder()
        Task(executorPreference: OwnThreads.tasks) { [options, idleness] in
            do {
                try await socket.serve(responder) {
                    options.onReady()
                    idleness.check()
                    Self.rest()
                }
            } catch {
                failure.withLock { $0 = error }
            }
            ended.signal()
        }
        Task(executorPreference: OwnThreads.tasks) { [self] in
            for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) { end() }
        }
        Task(executorPreference: OwnThreads.tasks) { [ending, keeper] in
            for await _ in ending.stream {}
            _ = await OwnThreads.block { keeper.shutDown() }
            ended.signal()
        }
        ended.wait()
        if let failure = failure.withLock(\.self) { throw failure }
        if case .path(let path) = socket { unlink(path.systemBytes) }
    }

    /// Much of the code is needed once, to start or to submit. A service that only waits has it on loan from its file.
    private static func rest() { _ = bg_give_back_code() }

    func end() { ending.continuation.finish() }

    /// Takes no new jobs, and ends when there are none left.
    func drain() {
        keeper.drain()
        if keeper.activeCount == 0 { end() }
    }

    var status: ServiceStatus {
        let tier = WorkerPriority.expectedTier()
        return ServiceStatus(
            version: Self.version, process: getpid(), started: started, active: keeper.activeCount,
            running: keeper.runningCount, isDraining: keeper.isDraining, priorityTier: tier.rawValue,
            priorityTierReason: tier.sentence)
    }
}
