import TaskModel

/// The machine goes to sleep or shuts down, or has come back (rule 78).
package enum SleepEvent: Hashable, Sendable {
    case willSleep, didWake, willShutDown
    /// A shutdown that was announced does not take place.
    case shutdownCancelled
}

/// Signals of the message bus that say that a condition changed.
enum BusEvent: UInt8 {
    case idle = 1
    case network, profile, willSleep, didWake, willShutDown, shutdownCancelled

    var sleep: SleepEvent? {
        switch self {
        case .willSleep: .willSleep
        case .didWake: .didWake
        case .willShutDown: .willShutDown
        case .shutdownCancelled: .shutdownCancelled
        case .idle, .network, .profile: nil
        }
    }

    /// Subscribes to all of them.
    static func watch(_ bus: SystemBus) throws(BusError) {
        let logind = BusFacts.logind
        let manager = "type='signal',sender='\(logind)',path='/org/freedesktop/login1',interface='\(logind).Manager'"
        try watchProperties(bus, logind, "/org/freedesktop/login1", "\(logind).Manager", .idle)
        try bus.watch("\(manager),member='SessionNew'", tag: idle.rawValue)
        try bus.watch("\(manager),member='SessionRemoved'", tag: idle.rawValue)
        try bus.watch("\(manager),member='PrepareForSleep'", tag: willSleep.rawValue, ifFalse: didWake.rawValue)
        try bus.watch(
            "\(manager),member='PrepareForShutdown'", tag: willShutDown.rawValue, ifFalse: shutdownCancelled.rawValue)
        let network = BusFacts.networkManager
        try watchProperties(bus, network, "/org/freedesktop/NetworkManager", network, .network)
        for service in BusFacts.profileServices {
            try watchProperties(bus, service.name, service.path, service.name, .profile)
        }
    }

    /// A service's properties, and the service coming and going.
    private static func watchProperties(
        _ bus: SystemBus, _ service: String, _ path: String, _ interface: String, _ event: BusEvent
    ) throws(BusError) {
        try bus.watch(
            "type='signal',sender='\(service)',path='\(path)',interface='org.freedesktop.DBus.Properties',"
                + "member='PropertiesChanged',arg0='\(interface)'", tag: event.rawValue)
        try bus.watch(
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                + "arg0='\(service)'", tag: event.rawValue)
    }
}
