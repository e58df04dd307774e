import CSystemConditions
import Glibc
import TaskModel

/// The kernel's own reports that a condition changed. For one thread.
final class KernelEvents {
    /// PSI: some task waited for 0.3 s within 2 s. An ordinary user's window must be a multiple of 2 s.
    static let pressureTrigger = "some 300000 2000000"

    private enum Kind { case devices, routes, pressure, platformProfile }

    /// Time from one look at the pressure to the next before there are triggers: their window.
    private static let pressureInterval: Duration = .seconds(2)

    private var descriptors: [(descriptor: Int32, kind: Kind)] = []
    /// When to call ``openDue(at:)``; nil for never.
    private(set) var due: Duration?
    /// When triggers are opened.
    private var pressureDue: Duration = .zero

    /// Opens what the kernel of this machine offers; for another root there is nothing but its files.
    ///
    /// - Parameters:
    ///   - root: Whose events.
    ///   - pressureDelay: As that of ``ConditionsMonitor``.
    init(root: SystemRoot, pressureDelay: Duration) {
        if root.isMachine {
            add(bg_open_device_events(), .devices)
            add(bg_open_route_events(), .routes)
            let now = MonotonicClock.now()
            pressureDue = now + pressureDelay
            due = min(pressureDue, now + Self.pressureInterval)
        } else {
            watchPressure(root)
        }
        add(bg_open_attribute(root.path(LowPowerReader.platformProfile)), .platformProfile)
        // An attribute reports what changes after it was read.
        for entry in descriptors where entry.kind == .platformProfile { rewind(entry.descriptor) }
    }

    /// Takes over sockets that deliver messages in the kernel's form.
    init(devices: Int32, routes: Int32) {
        add(devices, .devices)
        add(routes, .routes)
    }

    deinit {
        for entry in descriptors { close(entry.descriptor) }
    }

    /// Opens what is to be opened by now.
    ///
    /// - Returns: What may have changed unseen.
    func openDue(at now: Duration) -> ConditionSet {
        guard let due, due <= now else { return [] }
        if now < pressureDue {
            self.due = min(pressureDue, now + Self.pressureInterval)
        } else {
            self.due = nil
            watchPressure(SystemRoot())
        }
        return ConditionSet(.pressure)
    }

    private func watchPressure(_ root: SystemRoot) {
        for resource in PressureReader.Resource.allCases {
            add(bg_open_pressure_trigger(root.path(PressureReader.path(resource)), Self.pressureTrigger), .pressure)
        }
    }

    private func add(_ descriptor: Int32, _ kind: Kind) {
        if descriptor >= 0 { descriptors.append((descriptor, kind)) }
    }

    /// Conditions of which every change is reported. Pressure is not among them, for only its rise is, nor is the level of
    /// a battery, which many report in large steps.
    var covered: ConditionSet {
        var covered: ConditionSet = []
        for entry in descriptors {
            switch entry.kind {
            case .devices: covered.formUnion(ConditionSet(.externalPower))
            case .routes: covered.formUnion(ConditionSet(.network))
            case .platformProfile: covered.formUnion(ConditionSet(.lowPowerMode))
            case .pressure: break
            }
        }
        return covered
    }

    var polled: [pollfd] {
        descriptors.map { entry in
            let events = entry.kind == .devices || entry.kind == .routes ? POLLIN : POLLPRI
            return pollfd(fd: entry.descriptor, events: Int16(events), revents: 0)
        }
    }

    /// What may have changed, by the answers to ``polled``. Descriptors that have failed are closed, so that waiting for
    /// them ends at once no more.
    func changes(_ answers: some Collection<pollfd>) -> ConditionSet {
        var changes: ConditionSet = []
        for answer in answers where answer.revents != 0 {
            guard let index = descriptors.firstIndex(where: { $0.descriptor == answer.fd }) else { continue }
            let isSound: Bool
            switch descriptors[index].kind {
            case .devices: isSound = receive(answer.fd) { changes.formUnion(Self.changes(deviceEvent: $0)) }
            case .routes: isSound = receive(answer.fd) { _ in changes.formUnion(ConditionSet(.network)) }
            case .pressure:
                isSound = answer.revents & Int16(POLLERR | POLLNVAL) == 0
                changes.formUnion(ConditionSet(.pressure))
            case .platformProfile:
                // The kernel reports a change of an attribute as an error and as priority data at once.
                isSound = answer.revents & Int16(POLLNVAL) == 0 && rewind(answer.fd)
                changes.formUnion(ConditionSet(.lowPowerMode))
            }
            if !isSound {
                close(answer.fd)
                descriptors.remove(at: index)
            }
        }
        return changes
    }

    /// Takes all messages that are there; lost ones count as a message about everything.
    private func receive(_ socket: Int32, _ handle: ([UInt8]) -> Void) -> Bool {
        // Bounded, so that a flood cannot keep the thread here.
        for _ in 0..<1000 {
            var count = 0
            let message = [UInt8](unsafeUninitializedCapacity: 8192) { buffer, filled in
                count = bg_receive_event(socket, buffer.baseAddress, buffer.count)
                filled = max(0, count)
            }
            switch Int32(clamping: count) {
            case -EAGAIN: return true
            case -ENOBUFS: handle([])
            case ..<0: return false
            case 0: continue
            default: handle(message)
            }
        }
        return true
    }

    /// What a device event is about: text fields that end in zeros, e.g. `SUBSYSTEM=power_supply`.
    static func changes(deviceEvent message: [UInt8]) -> ConditionSet {
        guard !message.isEmpty else { return .all }
        for field in message.split(separator: 0) {
            guard let text = String(validating: field, as: UTF8.self), text.hasPrefix("SUBSYSTEM=") else { continue }
            switch text.dropFirst(10) {
            case "power_supply": return [ConditionSet(.externalPower), ConditionSet(.batteryLevel)]
            case "thermal", "hwmon": return ConditionSet(.thermal)
            case "drm": return ConditionSet(.gpuContention)
            case "net": return ConditionSet(.network)
            default: return []
            }
        }
        return []
    }

    @discardableResult
    private func rewind(_ descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 256)
        return pread(descriptor, &bytes, bytes.count, 0) >= 0
    }
}
