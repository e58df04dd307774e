import BackgroundTasks
import BackgroundTasksTesting
import Dispatch
import Locking
import SchedulingCore
import SystemConditions
import TaskModel
import Testing

/// The host below the library and the service, with nothing but its scheduler.
@Suite struct SchedulerHostTests {
    private static let program = "org.example.jobs"

    private let clock = ManualClock()
    private let conditions = ScriptedConditions()
    private let devices = SimulatedDevices([SimulatedGPU()])
    private let inhibitor = SimulatedInhibitor()
    private let work = DispatchGroup()
    private let host: SchedulerHost<Void, Never>
    private let actions = Recorder<SchedulerAction>()

    init() {
        host = SchedulerHost(
            .init(clock: clock, conditions: conditions, capabilities: devices, inhibitor: inhibitor),
            settings: SchedulerSettings(), own: (), work: work)
        host.begin(
            .init { [actions] output in
                if case .act(let action) = output { actions.add(action) }
            })
        let manifest = ProgramManifest(
            program: Self.program, modes: Set(TaskKind.allCases),
            permitted: [IdentifierPattern("\(Self.program).*")], grants: .gpu)
        host.perform { scheduler, now in scheduler.addProgram(manifest, usesHandlers: false, at: now) }
    }

    private func submit(_ name: String, requires resources: ComputeResources = []) throws -> JobID {
        let request = TaskRequest(
            identifier: TaskIdentifier("\(Self.program).\(name)"), kind: .continued, requiredResources: resources)
        host.prepare(for: request)
        return try host.decide { state, now in
            let submission = state.scheduler.submit(request, program: Self.program, at: now)
            state.add(submission.actions)
            return submission.answer
        }.get().id
    }

    private func settle() async {
        await withCheckedContinuation { continuation in
            work.notify(queue: .global()) { continuation.resume() }
        }
    }

    private func state(_ job: JobID) -> JobSummary.State? { host.read { $0.scheduler.summary(job)?.state } }

    @Test("rule 78: a host without a library holds sleep up while a job runs, lets it go, and goes on afterwards")
    func sleep() async throws {
        let job = try submit("one")
        await settle()
        #expect(inhibitor.isHeld)
        conditions.tell(.willSleep)
        #expect(actions.values.contains { if case .expire(job, .sleep, _) = $0 { true } else { false } })
        await settle()
        #expect(inhibitor.isHeld, "it has no checkpoint yet")
        host.perform { scheduler, now in scheduler.completed(job, success: false, at: now) }
        await settle()
        #expect(!inhibitor.isHeld)
        #expect(state(job) == .waiting)
        #expect(host.read { $0.scheduler.why(job).map(\.code) } == [.machineLeaves])
        conditions.tell(.didWake)
        await settle()
        #expect(state(job) == .running)
        #expect(inhibitor.isHeld && inhibitor.timesHeld == 2)
        #expect(actions.values.count { if case .launch(job, _) = $0 { true } else { false } } == 2)
    }

    @Test("rule 54: a host with nothing to do listens to nothing, and listens again for the next job")
    func rest() async throws {
        let first = try submit("one")
        clock.advance(by: .seconds(30))
        host.perform { scheduler, now in scheduler.completed(first, success: true, at: now) }
        clock.advance(by: .seconds(9))
        #expect(conditions.isWatched)
        let second = try submit("two")
        host.perform { scheduler, now in scheduler.completed(second, success: true, at: now) }
        clock.advance(by: .seconds(9))
        #expect(conditions.isWatched, "who submits again soon asks no machine anew")
        clock.advance(by: .seconds(1))
        #expect(!conditions.isWatched)

        let third = try submit("three")
        #expect(conditions.isWatched)
        conditions.tell(.willSleep)
        #expect(actions.values.contains { if case .expire(third, .sleep, _) = $0 { true } else { false } })
    }

    @Test("rule 54, rule 78: a host with nothing to do still hears that the machine is back")
    func restOverASleep() async throws {
        let job = try submit("one")
        host.perform { scheduler, now in scheduler.completed(job, success: true, at: now) }
        conditions.tell(.willSleep)
        clock.advance(by: .seconds(50))
        #expect(conditions.isWatched)
        conditions.tell(.didWake)
        await settle()
        clock.advance(by: .seconds(10))
        #expect(!conditions.isWatched)
        #expect(state(try submit("two")) == .running)
    }

    @Test("rule 78: a job that does not stop holds the machine up for less than 2 s")
    func slowJob() async throws {
        _ = try submit("one")
        conditions.tell(.willShutDown)
        clock.advance(by: .milliseconds(1_500))
        await settle()
        #expect(inhibitor.isHeld)
        clock.advance(by: .milliseconds(500))
        await settle()
        #expect(!inhibitor.isHeld)
    }

    @Test("rule 34: a host asks for the devices once, and again after a sleep before anything goes on")
    func devicesAfterSleep() async throws {
        let job = try submit("one", requires: .gpu)
        _ = try submit("two", requires: .gpu)
        #expect(devices.timesAsked == 1)
        conditions.tell(.willSleep)
        for job in host.read({ $0.scheduler.jobs().map(\.id) }) {
            host.perform { scheduler, now in scheduler.completed(job, success: false, at: now) }
        }
        devices.fail(.hang)
        conditions.tell(.didWake)
        await settle()
        #expect(devices.timesAsked == 2)
        #expect(state(job) == .waiting)
        #expect(host.read { $0.scheduler.why(job).map(\.code) } == [.deviceQuarantined])
    }

    @Test("rule 54: conditions are looked at by themselves only while something runs or waits for one of them")
    func sampling() async throws {
        #expect(!conditions.isWatched)
        let job = try submit("one")
        #expect(conditions.sampled == ConditionSampling.unreported)
        host.perform { scheduler, now in scheduler.completed(job, success: true, at: now) }
        #expect(conditions.sampled == [])
    }

    @Test func decisionsAreCarriedOutInOrderAndWithoutTheLock() throws {
        let seen = Recorder<[JobSummary.State]>()
        let own = SchedulerHost<Void, Never>(
            .init(clock: clock, conditions: conditions, capabilities: devices), settings: SchedulerSettings(), own: ())
        own.begin(
            .init { [weak own] output in
                guard let own, case .act(.launch(let job, _)) = output else { return }
                own.perform { scheduler, now in scheduler.completed(job, success: true, at: now) }
                seen.add(own.read { $0.scheduler.jobs().map(\.state) })
            })
        let manifest = ProgramManifest(
            program: Self.program, modes: Set(TaskKind.allCases),
            permitted: [IdentifierPattern("\(Self.program).*")], grants: [])
        own.perform { scheduler, now in scheduler.addProgram(manifest, usesHandlers: false, at: now) }
        own.perform { scheduler, now in
            ["one", "two"].flatMap { name in
                let request = TaskRequest(
                    identifier: TaskIdentifier("\(Self.program).\(name)"), kind: .continued)
                return scheduler.submit(request, program: Self.program, at: now).actions
            }
        }
        #expect(seen.values == [[.ended, .running], [.ended, .ended]])
    }
}
