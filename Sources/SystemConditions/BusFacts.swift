import TaskModel

/// What the message bus tells of the system, as last heard.
package struct BusFacts: Sendable {
    var idle: Reading<IdleHint>
    var metered: Reading<UInt32>
    var profile: Reading<String>

    /// Nothing, for one reason.
    static func unknown(_ reason: String) -> BusFacts {
        BusFacts(idle: .unknown(reason), metered: .unknown(reason), profile: .unknown(reason))
    }

    static func all(_ bus: SystemBus) -> BusFacts {
        BusFacts(idle: idle(bus), metered: metered(bus), profile: profile(bus))
    }

    /// Conditions of which every change is reported by a signal.
    var covered: ConditionSet {
        var covered: ConditionSet = []
        if idle.value != nil { covered.formUnion(ConditionSet(.idle)) }
        if profile.value != nil { covered.formUnion(ConditionSet(.lowPowerMode)) }
        return covered
    }

    static let logind = "org.freedesktop.login1"
    static let networkManager = "org.freedesktop.NetworkManager"

    /// Both names of the profile service, the newer one first.
    static let profileServices = [
        (name: "org.freedesktop.UPower.PowerProfiles", path: "/org/freedesktop/UPower/PowerProfiles"),
        (name: "net.hadess.PowerProfiles", path: "/net/hadess/PowerProfiles"),
    ]

    static func idle(_ bus: SystemBus) -> Reading<IdleHint> {
        do throws(BusError) {
            let isIdle = try bus.bool(
                SystemBus.Member(
                    service: logind, path: "/org/freedesktop/login1", interface: "\(logind).Manager",
                    member: "IdleHint"))
            // One deadline for the whole answer, however many sessions there are.
            let end = MonotonicClock.now() + SystemBus.deadline
            var trouble: BusError?
            for session in try bus.sessions() {
                do throws(BusError) {
                    guard try isGraphical(session, bus, until: end) else { continue }
                    return .known(IdleHint(isIdle: isIdle, hasGraphicalSession: true), source: logind)
                } catch {
                    // It may have ended meanwhile; another one may still tell.
                    trouble = error
                }
            }
            if let trouble { throw trouble }
            return .known(IdleHint(isIdle: isIdle, hasGraphicalSession: false), source: logind)
        } catch {
            return .unknown(error.reason)
        }
    }

    private static func isGraphical(
        _ session: String, _ bus: SystemBus, until end: Duration
    ) throws(BusError) -> Bool {
        func property(_ name: String) throws(BusError) -> String {
            let left = end - MonotonicClock.now()
            guard left > .zero else { throw BusError(reason: "\(logind) gave no answer in time") }
            return try bus.string(
                SystemBus.Member(service: logind, path: session, interface: "\(logind).Session", member: name),
                within: left)
        }
        guard ["x11", "wayland", "mir"].contains(try property("Type")) else { return false }
        // A login screen is a graphical session too, but nobody's.
        return try property("Class") == "user"
    }

    static func metered(_ bus: SystemBus) -> Reading<UInt32> {
        do {
            let value = try bus.unsigned(
                SystemBus.Member(
                    service: networkManager, path: "/org/freedesktop/NetworkManager", interface: networkManager,
                    member: "Metered"))
            return .known(value, source: networkManager)
        } catch {
            return .unknown(error.reason)
        }
    }

    static func profile(_ bus: SystemBus) -> Reading<String> {
        var reasons: [String] = []
        for service in profileServices {
            do {
                let name = try bus.string(
                    SystemBus.Member(
                        service: service.name, path: service.path, interface: service.name, member: "ActiveProfile"))
                return .known(name, source: service.name)
            } catch {
                reasons.append(error.reason)
            }
        }
        return .unknown(reasons.first ?? "no profile service")
    }
}
