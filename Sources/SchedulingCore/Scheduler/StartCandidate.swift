import TaskModel

/// What could start next: a waiting request, or a paused task whose causes are gone.
///
/// Who goes first, and who gives way (rules 65 and 87):
///
/// - Foreground work goes before background work, and each class of background work after the one before it by a fixed
///   time, so that waiting makes up for it (``SchedulerSettings/turnDelay``).
/// - Background work that has found no room for ``SchedulerSettings/reserveAfter`` (600 s) is urgent: it has its turn
///   among foreground work, the memory or the device that it lacks is kept for it from other background work, where
///   the end of tasks of ours can give it enough, and once started it is not preempted for
///   ``SchedulerSettings/protection`` (30 s).
/// - Foreground work that has waited for background work once goes before all that is urgent. So each start in the
///   foreground waits for one protected turn at most, whatever has piled up, and for the pause or grace that ends it.
/// - Foreground work that must start at once (`.fail`, rule 23) is not made to wait at all: it is answered while it
///   is submitted, and refused where urgent work has the room, or is to have it.
/// - Work that requires a device goes before work of its priority that only prefers one; that takes the CPU instead.
/// - Foreground work without room has background work preempted, that with the least recent progress first, and only
///   where this can make room for it.
struct StartCandidate: Sendable {
    var id: JobID
    var turn: Duration
    var request: TaskRequest
    var isForeground: Bool
    var roomlessSince: Duration?
    var isPaused: Bool
    /// It is paused, and has kept its memory here and on its device.
    var holdsItsRoom: Bool
    /// Foreground work, and what has waited so long for room that it gets the next.
    var isUrgent: Bool
    /// It is in the foreground and has waited for background work once.
    var hasGivenWay: Bool

    var requiresDevice: Bool { !request.requiredResources.isEmpty }

    /// It takes a device where one is free.
    private var prefersDevice: Bool { !requiresDevice && !request.preferredResources.isEmpty && !holdsItsRoom }

    /// Brings candidates into their order.
    static func inOrder(_ candidates: [StartCandidate]) -> [StartCandidate] {
        let foregroundIsNext = candidates.contains(where: \.hasGivenWay)
        func rank(_ candidate: StartCandidate) -> Int {
            if candidate.isForeground { return 0 }
            return candidate.isUrgent ? foregroundIsNext ? 1 : 0 : 2
        }
        let byTurn = candidates.sorted { (rank($0), $0.turn, $0.id) < (rank($1), $1.turn, $1.id) }
        guard byTurn.contains(where: \.prefersDevice), byTurn.contains(where: \.requiresDevice) else { return byTurn }
        return byTurn.enumerated().reduce(into: []) { ordered, next in
            let (place, candidate) = next
            if candidate.prefersDevice {
                ordered += byTurn[place...].filter { other in
                    other.requiresDevice && rank(other) <= rank(candidate)
                        && (other.isForeground || !candidate.isForeground)
                        && !ordered.contains { $0.id == other.id }
                }
            }
            if !ordered.contains(where: { $0.id == candidate.id }) { ordered.append(candidate) }
        }
    }
}
