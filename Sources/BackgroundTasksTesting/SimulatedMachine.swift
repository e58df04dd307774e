public import BackgroundTasks
import Dispatch
public import Foundation
package import SchedulingCore
import Locking

/// A machine without drivers, sensors and waiting: a scheduler whose time, conditions and devices a test sets.
///
/// ```swift
/// let machine = try SimulatedMachine(
///     program: "org.example.photos", modes: [.processing], permittedIdentifiers: ["org.example.photos.tidy"])
/// machine.scheduler.register(forTaskWithIdentifier: "org.example.photos.tidy", using: nil) { task in ... }
/// try machine.scheduler.submit(BGProcessingTaskRequest(identifier: "org.example.photos.tidy"))
/// await machine.settle()
/// machine.lose(.idle)
/// await machine.advance(by: .seconds(48 * 3_600))
/// #expect(machine.timeline.requests.first?.stops.first?.reason == .conditionLost(.idle))
/// ```
///
/// Handlers are the program's own. Work that takes time takes it on ``clock``, by ``ManualClock/after(_:perform:)`` or
/// ``ManualClock/sleep(for:)``.
public final class SimulatedMachine: Sendable {
    public let clock: ManualClock
    public let conditions: ScriptedConditions
    public let scheduler: BGTaskScheduler
    package let devices: SimulatedDevices
    package let inhibitor: SimulatedInhibitor
    let recorder: MachineRecorder
    private let handlerCalls: DispatchGroup

    /// - Parameters:
    ///   - program: Reverse-DNS name that every identifier starts with.
    ///   - modes: Kinds of work that it asks for.
    ///   - permittedIdentifiers: Identifiers, and for continued work prefixes with `.*` at their end.
    ///   - grants: What it may use beyond that.
    ///   - conditions: At the start.
    ///   - gpus: Devices it has.
    ///   - date: That its clock starts at.
    ///   - isStrict: Whether mistakes trap.
    /// - Throws: ``ManifestError`` with every mistake.
    public convenience init(
        program: String, modes: Set<BGTaskScheduler.Mode>, permittedIdentifiers: [String],
        grants: BGTaskScheduler.Grants = [], conditions: SimulatedConditions = .calm, gpus: [SimulatedGPU] = [],
        startingAt date: Date = ManualClock.standardStart, isStrict: Bool = false
    ) throws(ManifestError) {
        let manifest = try Manifest(
            program: program, modes: modes, permittedIdentifiers: permittedIdentifiers, grants: grants)
        self.init(manifest, conditions: conditions, gpus: gpus, startingAt: date, isStrict: isStrict)
    }

    package init(
        _ manifest: Manifest?, conditions: SimulatedConditions = .calm, gpus: [SimulatedGPU] = [],
        startingAt date: Date = ManualClock.standardStart, settings: SchedulerSettings = SchedulerSettings(),
        isStrict: Bool = false, inhibitor: SimulatedInhibitor = SimulatedInhibitor()
    ) {
        self.inhibitor = inhibitor
        clock = ManualClock(startingAt: date)
        self.conditions = ScriptedConditions(conditions)
        devices = SimulatedDevices(gpus)
        handlerCalls = DispatchGroup()
        scheduler = BGTaskScheduler(
            manifest: manifest, clock: clock, conditions: self.conditions, capabilities: devices,
            inhibitor: inhibitor, settings: settings, isStrict: isStrict, handlerCalls: handlerCalls,
            handlerExecutor: SimulatedExecutor(handlerCalls))
        recorder = MachineRecorder(scheduler.host, clock)
        recorder.begin()
    }

    /// Lets ``scheduler`` stand in for `BGTaskScheduler.shared` of this process while the body runs, for code that names
    /// that. Bodies must not overlap.
    ///
    /// - Parameter body: Uses `BGTaskScheduler.shared`.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
    public func standingInForShared<Answer>(_ body: () async throws -> Answer) async rethrows -> Answer {
        let before = BGTaskScheduler.standIn.withLock { standIn in
            defer { standIn = scheduler }
            return standIn
        }
        defer { BGTaskScheduler.standIn.withLock { $0 = before } }
        return try await body()
    }

    /// Returns when every launch, expiration and completion handler that was called has returned, and every async one has
    /// returned or waits for something.
    ///
    /// Handlers that block, or that go round in `Task.yield()`, keep it from returning. Async ones that were registered
    /// with an executor of their own are not waited for.
    public func settle() async {
        if !isSettled {
            await withCheckedContinuation { continuation in
                handlerCalls.notify(queue: .global()) { continuation.resume() }
            }
        }
        recorder.look()
    }

    private var isSettled: Bool { handlerCalls.wait(timeout: .now()) == .success }

    /// Lets time pass. Whatever comes due on the way happens at its time, and its handlers return before time goes on.
    ///
    /// - Parameter duration: 48 hours in which something happens each minute take well under a second.
    public func advance(by duration: Duration) async {
        await settle()
        let target = clock.now + duration
        while clock.step(by: target) { await settle() }
        await settle()
    }

    /// What has happened since the machine was made. Times are exact as long as time is moved by ``advance(by:)``.
    public var timeline: ScheduleTimeline { recorder.timeline }
}
