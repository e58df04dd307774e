public import Foundation
import Synchronization

/// Where a workload that is checked works: its folders, and what happens to it there.
public struct WorkloadStage: Sendable {
    /// For its results, and nothing else: what stands here under a name is finished. Every run of one trial is given the
    /// same folder.
    public let output: URL
    /// For what a later run needs, such as checkpoints and parts of results.
    public let state: URL
    /// Fills up in one of the trials; a workload that does not write through it is not tried with a full volume.
    public let volume: SimulatedVolume
    private let whenReached: @Sendable () -> Void

    init(_ folder: URL, volume: SimulatedVolume, whenReached: @escaping @Sendable () -> Void) {
        output = folder.appending(path: "output", directoryHint: .isDirectory)
        state = folder.appending(path: "state", directoryHint: .isDirectory)
        self.volume = volume
        self.whenReached = whenReached
    }

    /// A point of the work at which it may be stopped, paused or killed, besides each report of progress. The more there
    /// are, the more moments are tried.
    ///
    /// - Parameter point: Is also a ``KillPoint``.
    public func reach(_ point: String) {
        KillPoint.reach(point)
        whenReached()
    }
}
