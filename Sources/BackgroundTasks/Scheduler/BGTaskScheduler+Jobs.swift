import SchedulingCore
import TaskModel

extension BGTaskScheduler {
    /// Everything that was submitted: waiting, running, paused, and what has ended and was not dismissed yet.
    public func jobs() -> [Job] { host.jobs() }

    /// Every reason why a request does not run now; never empty while it waits or is paused (rule 95).
    ///
    /// - Parameter identifier: Of a request that has not ended.
    /// - Returns: Empty when it runs, or when there is none.
    public func why(_ identifier: String) -> [BGWaitReason] { host.why(identifier) }

    /// What happens from now on.
    ///
    /// - Parameter limit: Events that are kept for a listener who does not keep up; older ones are lost.
    /// - Returns: A stream that ends with the scheduler.
    public func events(keeping limit: Int = 1_024) -> AsyncStream<Event> { host.events.stream(keeping: limit) }

    /// Ends a request: a waiting one at once, a running one by its expiration handler.
    ///
    /// - Parameters:
    ///   - identifier: Of a request that has not ended.
    ///   - reason: What it is told.
    /// - Returns: Whether there was one.
    @discardableResult
    public func stop(taskWithIdentifier identifier: String, reason: BGStopReason = .userStop) -> Bool {
        host.ask(identifier) { state, job, now in state.add(state.scheduler.stop(job, reason.value, at: now)) }
    }

    /// Brings continued work to the foreground, where a person waits for it.
    ///
    /// - Parameter identifier: Of a request that has not ended.
    /// - Returns: Whether there was one.
    @discardableResult
    public func promote(taskWithIdentifier identifier: String) -> Bool {
        host.ask(identifier) { state, job, now in state.add(state.scheduler.promote(job, at: now)) }
    }

    /// Sends continued work to the background. Soon after a promotion that waits a little.
    ///
    /// - Parameter identifier: Of a request that has not ended.
    /// - Returns: Whether there was one.
    @discardableResult
    public func demote(taskWithIdentifier identifier: String) -> Bool {
        host.ask(identifier) { state, job, now in state.add(state.scheduler.demote(job, at: now)) }
    }

    /// Asks running work to stand still at its next chunk.
    ///
    /// - Parameter identifier: Of a request that has not ended.
    /// - Returns: Whether there was one.
    @discardableResult
    public func pause(taskWithIdentifier identifier: String) -> Bool {
        host.ask(identifier) { state, job, now in state.add(state.scheduler.pause(job, at: now)) }
    }

    /// Lets paused work go on when nothing else keeps it.
    ///
    /// - Parameter identifier: Of a request that has not ended.
    /// - Returns: Whether there was one.
    @discardableResult
    public func resume(taskWithIdentifier identifier: String) -> Bool {
        host.ask(identifier) { state, job, now in state.add(state.scheduler.resume(job, at: now)) }
    }

    /// Says whether work that has become slow is to go on.
    ///
    /// - Parameters:
    ///   - identifier: Of the task that the question was about.
    ///   - goOn: False stops it.
    /// - Returns: Whether there was one.
    @discardableResult
    public func answerSlow(taskWithIdentifier identifier: String, goOn: Bool) -> Bool {
        host.ask(identifier) { state, job, now in state.add(state.scheduler.answerSlow(job, goOn: goOn, at: now)) }
    }

    /// Runs a request that has ended once more, under the same number.
    ///
    /// - Parameter job: As in ``Job/id``.
    public func retry(_ job: UInt64) {
        host.perform { state, now in state.add(state.scheduler.retry(JobID(job), at: now)) }
    }

    /// Takes a request that has ended off the list.
    ///
    /// - Parameter job: As in ``Job/id``.
    public func dismiss(_ job: UInt64) {
        host.perform { state, now in state.add(state.scheduler.dismiss(JobID(job), at: now)) }
    }

    // MARK: The person's switch

    /// Whether its person lets this program work in the background.
    public var backgroundStatus: BackgroundStatus {
        host.read { BackgroundStatus($0.scheduler.backgroundStatus(of: $0.program)) }
    }

    /// Switches background work of this program on or off, as its person wishes. While it is off, requests are refused
    /// as ``Error/Code/unavailable``; never ask again by yourself.
    public func setBackgroundEnabled(_ isEnabled: Bool) {
        setBackgroundStatus(isEnabled ? .available : .denied)
    }

    /// Switches background work of this program on or off, or says that nobody here can switch it on.
    public func setBackgroundStatus(_ status: BackgroundStatus) {
        host.setBackgroundStatus(status.value)
    }

    // MARK: For tests (rule 99)

    /// Launches a waiting request now, whatever its conditions and the room.
    ///
    /// - Parameter identifier: Of a request that waits.
    /// - Returns: Whether there was one that could start: none starts while the machine leaves, and no two of one
    ///   identifier run at once.
    @discardableResult
    public func simulateLaunch(forTaskWithIdentifier identifier: String) -> Bool {
        host.simulate(Simulation(.launch, identifier)) == nil
    }

    /// Expires a running task.
    ///
    /// - Parameters:
    ///   - identifier: Of a task that runs.
    ///   - reason: What it is told.
    /// - Returns: Whether there was one.
    @discardableResult
    public func simulateExpiration(
        forTaskWithIdentifier identifier: String, reason: BGStopReason = .simulated
    ) -> Bool {
        host.simulate(Simulation(.expire, identifier, reason: reason.value)) == nil
    }
}
