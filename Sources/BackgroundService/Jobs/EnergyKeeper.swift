import Locking
import NIOCore
import SystemConditions
import TaskModel
import TaskStore
import WorkerPriority

/// Takes down what jobs take of the machine's energy: when one starts or ends, once a minute between, and when somebody asks.
final class EnergyKeeper: Sendable {
    private struct Running {
        var session: Int32
        /// Of processors, until the last look.
        var seconds = 0.0
    }

    private struct State {
        var meter: EnergyMeter
        var running: [JobID: Running] = [:]
        var processors: MachineProcessors?
        var lookedAt: ContinuousClock.Instant
        var rhythm: RepeatedTask?
    }

    private static let rhythm: Duration = .seconds(60)

    private let begin = ContinuousClock.now
    /// Of a busy processor where nothing is measured.
    let watts: Double
    private let state: Lock<State>
    private let keep: @Sendable ([EnergyShares.Part]) -> Void

    /// - Parameters:
    ///   - meter: Of the machine.
    ///   - watts: Of a busy processor where nothing is measured.
    ///   - keep: Gets what was taken between two looks.
    init(_ meter: EnergyMeter, watts: Double, keep: @escaping @Sendable ([EnergyShares.Part]) -> Void) {
        self.watts = watts
        self.keep = keep
        state = Lock(State(meter: meter, lookedAt: .now))
    }

    /// - Parameters:
    ///   - job: That has got a process.
    ///   - session: Of that process and all that it starts.
    func started(_ job: JobID, session: Int32) {
        let isFirst = state.withLock { state in
            let isFirst = state.running.isEmpty
            // What was taken while no job ran is nobody's.
            if isFirst { _ = look(&state) }
            state.running[job] = Running(session: session)
            return isFirst
        }
        guard isFirst else { return }
        let rhythm = OwnThreads.every(Self.rhythm) { [weak self] in self?.look() }
        state.withLock { state in
            state.rhythm?.cancel()
            state.rhythm = rhythm
        }
    }

    /// - Parameters:
    ///   - job: Whose process has ended.
    ///   - seconds: Of processors that it took in all.
    func ended(_ job: JobID, seconds: Double) {
        let parts = state.withLock { state in
            let parts = look(&state, last: (job, seconds))
            state.running[job] = nil
            if state.running.isEmpty {
                state.rhythm?.cancel()
                state.rhythm = nil
            }
            return parts
        }
        keep(parts)
    }

    func look() {
        let parts = state.withLock { $0.running.isEmpty ? [] : look(&$0) }
        if !parts.isEmpty { keep(parts) }
    }

    private func look(_ state: inout State, last: (job: JobID, seconds: Double)? = nil) -> [EnergyShares.Part] {
        let now = ContinuousClock.now
        let joules = state.meter.take(at: now - begin)
        let processors = MachineProcessors()
        var busy = 0.0
        if let processors, let before = state.processors {
            busy = ((now - state.lookedAt) * processors.count - (processors.idle - before.idle)) / .seconds(1)
        }
        let totals = SessionProcessorTime.seconds(of: Set(state.running.values.map(\.session)))
        var taken: [JobID: Double] = [:]
        for (job, running) in state.running {
            let total = last?.job == job ? last?.seconds : totals[running.session]
            taken[job] = max(0, (total ?? running.seconds) - running.seconds)
            state.running[job]?.seconds = max(running.seconds, total ?? 0)
        }
        state.processors = processors
        state.lookedAt = now
        return EnergyShares.parts(joules: joules, busy: busy, jobs: taken, watts: watts)
    }
}
