public import Dispatch
public import Foundation
import Locking
import ProgramLink
import TaskModel

/// What `UIApplication` offers for background work, for a process without one.
///
/// A process counts as being in the foreground until it says otherwise by ``didEnterBackground()``. Handlers are called
/// on the main queue, which runs in programs with an asynchronous `main`, `dispatchMain()` or a run loop.
public final class BGApplication: Sendable {
    public enum State: String, Hashable, Sendable {
        case active, background
    }

    /// Ends a fetch or a poke; call it promptly and honestly.
    public typealias FetchCompletion = @Sendable (BGBackgroundFetchResult) -> Void

    private struct Mutable {
        var assertions: BackgroundAssertions
        var handlers: [Int: @Sendable () -> Void] = [:]
        var fetch = FetchPlan()
        var onFetch: (@Sendable (@escaping FetchCompletion) -> Void)?
        var isFetchRegistered = false
        var pokes = PokeLimiter()
        var onPoke: (@Sendable ([String: String], @escaping FetchCompletion) -> Void)?
        /// When the present delivery of a poke is over time.
        var pokeEnds: Duration?
        var deliveries = 0
    }

    private struct Alarms {
        var assertions: (any HostAlarm)?
        var pokes: (any HostAlarm)?
    }

    /// Time that a poke's handler has.
    static let pokeTime: Duration = .seconds(30)

    /// The application of this process, with `BGTaskScheduler.shared`.
    public static let shared = BGApplication(scheduler: .shared)

    private let scheduler: BGTaskScheduler
    private let queue: DispatchQueue
    private let state: Lock<Mutable>
    private let alarms = Lock(Alarms())

    var host: TaskHost { scheduler.host }

    /// - Parameters:
    ///   - scheduler: Runs its fetches, and has its clock and its person's switch.
    ///   - queue: Where handlers are called.
    public convenience init(scheduler: BGTaskScheduler, queue: DispatchQueue = .main) {
        self.init(scheduler: scheduler, queue: queue, limits: BackgroundAssertions.Limits())
    }

    package init(scheduler: BGTaskScheduler, queue: DispatchQueue, limits: BackgroundAssertions.Limits) {
        self.scheduler = scheduler
        self.queue = queue
        state = Lock(Mutable(assertions: BackgroundAssertions(limits: limits)))
        let assertions = scheduler.host.clock.makeAlarm { [weak self] in self?.timePassed() }
        let pokes = scheduler.host.clock.makeAlarm { [weak self] in self?.deliverPokes() }
        alarms.withLock { $0 = Alarms(assertions: assertions, pokes: pokes) }
        scheduler.host.whenStatusChanges { [weak self] in self?.deliverPokes() }
    }

    // MARK: Foreground and background

    public var applicationState: State { state.withLock { $0.assertions.isInBackground ? .background : .active } }

    /// Nobody watches any more: the time for what is under way begins to run.
    public func didEnterBackground() {
        let now = host.clock.now
        state.withLock { $0.assertions.wentToBackground(at: now) }
        setAssertionAlarm()
    }

    /// A person watches again: there is no limit any more.
    public func willEnterForeground() {
        state.withLock { $0.assertions.cameToForeground() }
        setAssertionAlarm()
    }

    /// Whether the program may refresh itself in the background; respect a refusal, and do not ask again.
    public var backgroundRefreshStatus: BGBackgroundRefreshStatus {
        switch scheduler.backgroundStatus {
        case .available: .available
        case .denied: .denied
        case .restricted: .restricted
        }
    }

    // MARK: Background tasks

    // Closures of programs in Swift 5 mode, as Apple's documentation shows them, are not marked as sendable: hence
    // `@preconcurrency`, which changes nothing for Swift 6.
    /// Asserts that something is under way that should be finished even in the background. It starts nothing.
    ///
    /// Each begin needs its ``endBackgroundTask(_:)``: what is still held when the time is over is reported by name.
    ///
    /// - Parameters:
    ///   - name: What it is, for reports.
    ///   - expirationHandler: Is called once, shortly before the time is over; end the background task in it.
    /// - Returns: `.invalid` when there is no time to run in.
    @preconcurrency public func beginBackgroundTask(
        withName name: String? = nil, expirationHandler: (@Sendable () -> Void)? = nil
    ) -> BGBackgroundTaskIdentifier {
        guard scheduler.backgroundStatus == .available else { return .invalid }
        let now = host.clock.now
        let id = state.withLock { state -> Int? in
            let id = state.assertions.begin(name ?? "unnamed", at: now)
            if let id { state.handlers[id] = expirationHandler }
            return id
        }
        setAssertionAlarm()
        return id.map(BGBackgroundTaskIdentifier.init) ?? .invalid
    }

    /// Ends what was begun.
    public func endBackgroundTask(_ identifier: BGBackgroundTaskIdentifier) {
        guard identifier != .invalid else { return }
        let problem = state.withLock { state in
            state.handlers[identifier.rawValue] = nil
            return state.assertions.end(identifier.rawValue)
        }
        if let problem { note(problem) }
        setAssertionAlarm()
    }

    /// Seconds left to run; infinite in the foreground.
    public var backgroundTimeRemaining: TimeInterval {
        let now = host.clock.now
        return state.withLock { $0.assertions.remaining(at: now) }?.seconds ?? .infinity
    }

    private func setAssertionAlarm() {
        let deadline = state.withLock(\.assertions.nextDeadline)
        alarms.withLock { $0.assertions?.set(at: deadline) }
    }

    private func timePassed() {
        let now = host.clock.now
        let (handlers, overruns) = state.withLock { state in
            var handlers: [@Sendable () -> Void] = []
            var overruns: [BackgroundAssertions.Overrun] = []
            for action in state.assertions.timePassed(at: now) {
                switch action {
                case .callHandlers(let ids): handlers += ids.compactMap { state.handlers.removeValue(forKey: $0) }
                case .overran(let found): overruns += found
                }
            }
            return (handlers, overruns)
        }
        setAssertionAlarm()
        for handler in handlers { queue.async(group: host.handlerCalls) { handler() } }
        for overrun in overruns {
            note(
                Diagnostic(
                    code: "unbalancedBegin",
                    sentence: "Background task \"\(overrun.name)\" was begun and not ended before its time was over.",
                    fix: "Call endBackgroundTask when its work is done and in its expiration handler."))
        }
        // Strict mode is chosen to find mistakes of the program, by a trap where each is made.
        if !overruns.isEmpty, scheduler.isStrict {
            fatalError("unbalancedBegin: \(overruns.map(\.name).joined(separator: ", "))")
        }
    }

    private func note(_ problem: Diagnostic) {
        host.perform { state, _ in state.note(problem) }
    }

    // MARK: Fetch

    /// As often as the scheduler allows.
    public static let backgroundFetchIntervalMinimum: TimeInterval = 0
    /// Never, which is how it begins.
    public static let backgroundFetchIntervalNever: TimeInterval = .greatestFiniteMagnitude

    // Closures of programs in Swift 5 mode, as Apple's documentation shows them, are not marked as sendable: hence
    // `@preconcurrency`, which changes nothing for Swift 6.
    /// Sets what is called to fetch: it is to call its argument with what the fetch was good for, within 30 seconds.
    @preconcurrency public func setPerformFetchHandler(
        _ handler: (@Sendable (_ completionHandler: @escaping FetchCompletion) -> Void)?
    ) {
        state.withLock { $0.onFetch = handler }
    }

    /// Asks for fetches by and by; the manifest permits the mode `refresh` and the identifier `PROGRAM.fetch`.
    ///
    /// - Parameter interval: Least seconds between two fetches, advisory; never by default.
    public func setMinimumBackgroundFetchInterval(_ interval: TimeInterval) {
        let identifier = fetchIdentifier
        let isRegistered = state.withLock { state in
            let isNever = !interval.isFinite || interval >= Self.backgroundFetchIntervalNever
            state.fetch.setMinimum(isNever ? nil : .seconds(min(interval, 1e9)))
            defer { state.isFetchRegistered = true }
            return state.isFetchRegistered
        }
        if !isRegistered {
            scheduler.register(forTaskWithIdentifier: identifier, as: BGAppRefreshTask.self) { [weak self] task in
                self?.fetch(task)
            }
        }
        scheduler.cancel(taskRequestWithIdentifier: identifier)
        submitFetch()
    }

    private var fetchIdentifier: String { host.read(\.program) + ".fetch" }

    private func submitFetch() {
        let wall = host.clock.wallNow
        guard let begin = state.withLock({ $0.fetch.nextBegin(at: wall) }) else { return }
        let request = BGAppRefreshTaskRequest(identifier: fetchIdentifier)
        request.earliestBeginDate = Date(begin)
        do {
            try scheduler.submit(request)
        } catch {
            note(
                Diagnostic(
                    code: "fetchRefused", sentence: "The next fetch was refused: \(error.localizedDescription)",
                    fix: "Permit the mode \"refresh\" and the identifier \"\(request.identifier)\" in the manifest."))
        }
    }

    private func fetch(_ task: BGAppRefreshTask) {
        let wall = host.clock.wallNow
        let handler = state.withLock { state in
            state.fetch.began(at: wall)
            return state.onFetch
        }
        // The next one is asked for first: whatever happens to this one, fetching goes on.
        submitFetch()
        guard let handler else { return task.setTaskCompleted(result: .noData) }
        // The program hears of the end of its time by being stopped, as ever with fetches.
        task.expirationHandler = { [weak task] in task?.setTaskCompleted(success: false) }
        queue.async(group: host.handlerCalls) {
            handler { task.setTaskCompleted(result: $0) }
        }
    }

    // MARK: Pokes

    // Closures of programs in Swift 5 mode, as Apple's documentation shows them, are not marked as sendable: hence
    // `@preconcurrency`, which changes nothing for Swift 6.
    /// Sets what is called when the program was poked, with what was given along, merged.
    @preconcurrency public func setRemoteNotificationHandler(
        _ handler: (
            @Sendable (_ userInfo: [String: String], _ completionHandler: @escaping FetchCompletion) -> Void
        )?
    ) {
        state.withLock { $0.onPoke = handler }
        // `bgrun poke` finds the program from now on.
        let answer: @Sendable ([String: String]) -> ProgramAnswer = { [weak self] in
            self?.poked($0) ?? ProgramAnswer()
        }
        scheduler.hear(handler == nil ? nil : answer)
        deliverPokes()
    }

    /// Lets the program know that there is something for it: at low priority, merged with other pokes, and at most three
    /// times an hour.
    public func poke(_ userInfo: [String: String] = [:]) {
        state.withLock { $0.pokes.poked(userInfo) }
        deliverPokes()
    }

    /// Somebody else has poked the program.
    private func poked(_ userInfo: [String: String]) -> ProgramAnswer {
        poke(userInfo)
        let now = host.clock.now
        let next = state.withLock { state in state.pokes.nextDeadline.map { max($0, state.pokeEnds ?? $0) } }
        return ProgramAnswer(delay: next.map { max($0 - now, .zero).seconds })
    }

    private func deliverPokes() {
        let now = host.clock.now
        let mayRun = scheduler.backgroundStatus == .available
        let (overran, delivery) = state.withLock { state in
            var overran = false
            if let ends = state.pokeEnds, now >= ends {
                state.pokeEnds = nil
                overran = true
            }
            guard state.pokeEnds == nil, let handler = state.onPoke,
                let (payload, _) = state.pokes.take(at: now, mayRun: mayRun)
            else { return (overran, nil as (@Sendable () -> Void)?) }
            state.pokeEnds = now + Self.pokeTime
            state.deliveries += 1
            let delivery = state.deliveries
            return (overran, { handler(payload) { [weak self] _ in self?.pokeHandled(delivery) } })
        }
        if overran {
            note(
                Diagnostic(
                    code: "pokeOverran", sentence: "The handler of a poke did not complete within its time.",
                    fix: "Call its completion handler within \(Int(Self.pokeTime.seconds)) seconds."))
        }
        if let delivery { queue.async(group: host.handlerCalls, execute: DispatchWorkItem(block: delivery)) }
        setPokeAlarm()
    }

    private func pokeHandled(_ delivery: Int) {
        state.withLock { state in
            // One that comes after its time says nothing about the next.
            if state.deliveries == delivery { state.pokeEnds = nil }
        }
        deliverPokes()
    }

    private func setPokeAlarm() {
        let mayRun = scheduler.backgroundStatus == .available
        let deadline = state.withLock { state in
            state.pokeEnds ?? (state.onPoke != nil && mayRun ? state.pokes.nextDeadline : nil)
        }
        alarms.withLock { $0.pokes?.set(at: deadline) }
    }
}
