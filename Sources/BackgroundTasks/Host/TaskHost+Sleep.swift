import Dispatch
import SchedulingCore
package import SystemConditions
import TaskModel

/// What sleep and shutdown of the machine mean for the work (rule 78).
extension TaskHost {
    /// The machine leaves or comes back.
    package func sleepChanged(_ event: SleepEvent) {
        switch event {
        case .willSleep: machineLeaves(.sleep)
        case .willShutDown: machineLeaves(.shutdown)
        case .didWake, .shutdownCancelled:
            let isNews = perform { state, _ in state.sleepDelay.machineIsBack() }
            if isNews { comeBack() }
        }
    }

    private func machineLeaves(_ reason: StopReason) {
        perform { state, now in
            state.sleepDelay.machineLeaves(at: now)
            state.add(state.scheduler.machineLeaves(reason, at: now))
        }
    }

    func act(_ action: SleepDelay.Action) {
        switch action {
        case .hold, .release:
            // Of many changes in a row only what is wished for at last takes a question to the bus.
            inhibitorQueue.async(group: handlerCalls) {
                if self.read(\.sleepDelay.isHeld) { self.holdInhibitor() } else { self.inhibitor?.release() }
            }
        case .comeBack: comeBack()
        }
    }

    /// Blocks while the message bus is asked.
    private func holdInhibitor() {
        do {
            try inhibitor?.hold(why: "Background work keeps a checkpoint.")
        } catch {
            perform { state, _ in
                guard !state.lacksInhibitor else { return }
                state.lacksInhibitor = true
                state.note(
                    Diagnostic(
                        code: "noInhibitor", sentence: "Sleep and shutdown cannot be delayed: \(error.reason).",
                        fix: "Run systemd-logind, or keep checkpoints often."))
            }
        }
    }

    /// Work goes on once the devices have been looked at again (rule 34): a sleep may have cost them.
    private func comeBack() {
        let (departure, knowsDevices) = read { ($0.sleepDelay.departures, $0.knowsCapabilities) }
        guard knowsDevices else { return machineReturned(from: departure, with: nil) }
        DispatchQueue.global().async(group: handlerCalls) {
            self.machineReturned(from: departure, with: self.capabilities.capabilities())
        }
    }

    private func machineReturned(from departure: Int, with found: Capabilities?) {
        perform { state, now in
            if let found {
                state.add(
                    state.scheduler.capabilitiesChanged(devices: found.devices, absences: found.absences, at: now))
            }
            guard state.sleepDelay.machineReturned(from: departure) else { return }
            state.add(state.scheduler.machineReturned(at: now))
        }
    }
}
