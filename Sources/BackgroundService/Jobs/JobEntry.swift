import JobLink
import SchedulingCore
import ServiceAPI
import TaskModel
import TaskStore

/// What the service knows of one job beyond what the scheduler does.
struct JobEntry {
    /// Who is told of events.
    struct Listener {
        var stream: AsyncStream<JobEvent>.Continuation
        /// Is not told of progress.
        var isQuiet: Bool

        func hear(_ event: JobEvent) {
            if !isQuiet || event.kind != .progress { stream.yield(event) }
        }
    }

    /// Events that are kept for a client that comes back.
    private static let maxKept = 512

    var stored: StoredJob
    var submission: JobSubmission
    var phase: String?
    var device: String?
    /// What gives its process its processor share.
    var tier: String?
    /// Clients that wait for it.
    var attachedClients = 0
    private(set) var events: [JobEvent] = []
    private var lastEvent: UInt64 = 0
    private var listeners: [UInt64: Listener] = [:]
    private var lastListener: UInt64 = 0

    init(stored: StoredJob, submission: JobSubmission) {
        self.stored = stored
        self.submission = submission
    }

    /// Nobody needs it in memory: it has ended, and no one listens.
    var isIdle: Bool { stored.state == .ended && listeners.isEmpty }

    /// Tells whoever listens. Of successive progress only the last is kept.
    mutating func tell(_ event: JobEvent) {
        var event = event
        lastEvent += 1
        event.id = lastEvent
        if event.kind == .progress, events.last?.kind == .progress { events.removeLast() }
        events.append(event)
        if events.count > Self.maxKept { events.removeFirst() }
        for listener in listeners.values { listener.hear(event) }
        guard event.kind == .ended else { return }
        stopListeners()
    }

    /// It begins anew: who comes now is not told of the end before.
    mutating func forgetEvents() { events = [] }

    mutating func stopListeners() {
        for listener in listeners.values { listener.stream.finish() }
        listeners = [:]
    }

    /// Sends what came after an event, and whatever comes.
    ///
    /// - Returns: What ``stopListening(_:)`` takes; nil when nothing more can come.
    mutating func listen(after last: UInt64, _ listener: Listener) -> UInt64? {
        for event in events where event.id > last { listener.hear(event) }
        guard stored.state != .ended else {
            listener.stream.finish()
            return nil
        }
        lastListener += 1
        listeners[lastListener] = listener
        return lastListener
    }

    mutating func stopListening(_ listener: UInt64) {
        listeners.removeValue(forKey: listener)?.stream.finish()
    }
}
