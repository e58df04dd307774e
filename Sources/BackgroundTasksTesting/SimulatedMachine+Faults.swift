public import BackgroundTasks
import SchedulingCore
import TaskModel

/// What goes wrong with machines (rule 99).
///
/// Launches and expirations are simulated by the scheduler itself:
/// `machine.scheduler.simulateExpiration(forTaskWithIdentifier:reason:)`; a full volume by ``SimulatedVolume``.
extension SimulatedMachine {
    /// A condition no longer holds, from now on.
    ///
    /// ```swift
    /// machine.lose(.network)
    /// ```
    ///
    /// - Parameter condition: `.allowedHours` is lost for the next ten years.
    public func lose(_ condition: BGCondition) {
        set(condition, isMet: false)
    }

    /// A condition holds again, from now on. A battery has to stay charged for 60 s, a cool machine cool for 30 s, and one
    /// condition starts work once a minute at most.
    ///
    /// - Parameter condition: What is well again.
    public func meet(_ condition: BGCondition) {
        set(condition, isMet: true)
    }

    private func set(_ condition: BGCondition, isMet: Bool) {
        if condition == .allowedHours {
            let simulation = Simulation(isMet ? .meet : .lose, condition.rawValue)
            _ = scheduler.host.simulate(simulation)
        } else {
            conditions.change { $0.set(condition, isMet: isMet) }
        }
    }

    /// A device fails once: whatever runs on it loses it. Work that prefers a GPU goes on with the CPU, work that requires
    /// one waits for another attempt (rule 37).
    ///
    /// - Parameter name: Of one of the machine's ``SimulatedGPU``.
    /// - Returns: Tasks that lost it.
    @discardableResult
    public func loseDevice(named name: String) -> Int {
        scheduler.host.perform { state, now in state.loseDevice(name, at: now) }
    }

    /// The driver of all GPUs crashes or hangs: whatever runs on them loses them, and until ``repairDriver()`` requests
    /// that require one are refused with the cause, `driverCrashed` or `driverHung`.
    ///
    /// ```swift
    /// machine.failDriver(.hang)
    /// #expect(machine.scheduler.supportedResources.isEmpty)
    /// ```
    ///
    /// - Parameter fault: What a probe of it finds.
    public func failDriver(_ fault: SimulatedDriverFault) {
        for gpu in devices.offered.devices { loseDevice(named: gpu.id) }
        devices.fail(fault)
        tellCapabilities()
    }

    /// The driver is well again, and its devices are back.
    public func repairDriver() {
        devices.fail(nil)
        tellCapabilities()
    }

    private func tellCapabilities() {
        let found = devices.offered
        scheduler.host.perform { state, now in
            state.add(state.scheduler.capabilitiesChanged(devices: found.devices, absences: found.absences, at: now))
        }
    }
}
