import JobLink
import TaskModel

/// Whom a job tells what it does while it runs and how it ended: a terminal, or the host of its job.
protocol JobAudience {
    /// Whether progress that is shown now would be: it need not be measured otherwise.
    var wantsProgress: Bool { get }

    mutating func show(_ progress: ProgressSnapshot, device: String, force: Bool)

    /// Something begins that takes long and makes no countable progress.
    mutating func phase(_ text: String)

    /// A sentence beside the progress, or after the end.
    mutating func note(_ text: String)

    /// The job was asked to stop.
    mutating func stopping(_ reason: StopReason, _ text: String)

    /// The job ended; nothing but notes follows. `text` is nil where the person asked for JSON alone.
    mutating func ended(_ outcome: TaskOutcome, _ summary: WorkSummary, text: String?)
}

/// The host of a job as the audience of its work.
final class HostAudience: JobAudience {
    /// As often as a terminal shows it.
    private static let interval: Duration = .milliseconds(200)

    private let host: JobHost
    private let clock = SuspendingClock()
    private var nextTime: SuspendingClock.Instant
    private var last: (ProgressSnapshot, String)?
    /// What is kept for the last word, once the job has ended.
    private var end: (outcome: TaskOutcome, summary: WorkSummary, text: String)?

    init(_ host: JobHost) {
        self.host = host
        nextTime = clock.now
    }

    var wantsProgress: Bool { clock.now >= nextTime }

    func show(_ progress: ProgressSnapshot, device: String, force: Bool) {
        guard force || wantsProgress else { return }
        if let last, last == (progress, device) { return }
        last = (progress, device)
        nextTime = clock.now + Self.interval
        host.tell(.progress(progress, device: device))
    }

    func phase(_ text: String) { host.tell(.phase(text)) }

    func note(_ text: String) {
        if end == nil {
            host.tell(.note(text))
        } else {
            end?.text += text.onOneLine + "\n"
        }
    }

    func stopping(_ reason: StopReason, _ text: String) { host.tell(.stopping(reason, text)) }

    func ended(_ outcome: TaskOutcome, _ summary: WorkSummary, text: String?) {
        end = (outcome, summary, text ?? "")
    }

    /// How the work ended, with what was told after it.
    func ending(_ status: ExitStatus) -> WorkEnding? {
        end.map { WorkEnding($0.outcome, status, text: $0.text, summary: $0.summary) }
    }
}

/// A terminal as the audience of work whose host is in the same process.
struct HostedDisplay: JobAudience {
    /// As often as a terminal shows it.
    private static let interval: Duration = .milliseconds(200)

    private let host: InProcessHost?
    private var display: ProgressDisplay
    private let clock = SuspendingClock()
    private var nextTime: SuspendingClock.Instant

    init(_ display: ProgressDisplay, _ host: InProcessHost?) {
        self.display = display
        self.host = host
        nextTime = clock.now
    }

    var wantsProgress: Bool { display.wantsProgress || hostWantsProgress }

    private var hostWantsProgress: Bool { host != nil && clock.now >= nextTime }

    mutating func show(_ progress: ProgressSnapshot, device: String, force: Bool) {
        display.show(progress, device: device, force: force)
        guard force || hostWantsProgress else { return }
        nextTime = clock.now + Self.interval
        host?.tell(.progress(progress, device: device))
    }

    mutating func phase(_ text: String) {
        display.phase(text)
        host?.tell(.phase(text))
    }

    mutating func note(_ text: String) { display.note(text) }

    mutating func stopping(_ reason: StopReason, _ text: String) { display.stopping(reason, text) }

    mutating func ended(_ outcome: TaskOutcome, _ summary: WorkSummary, text: String?) {
        display.ended(outcome, summary, text: text)
    }
}
