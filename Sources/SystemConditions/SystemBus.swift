import CSystemConditions
import Foundation

/// How to reach the system's message bus.
package struct BusAddress: Hashable, Sendable {
    /// In D-Bus syntax, e.g. `unix:path=/run/dbus/system_bus_socket`.
    package var address: String
    /// The library that is opened at run time.
    package var library: String

    package init(address: String, library: String = "libsystemd.so.0") {
        self.address = address
        self.library = library
    }

    /// `DBUS_SYSTEM_BUS_ADDRESS`, else the socket below the root.
    package static func standard(root: SystemRoot, environment: [String: String]) -> BusAddress {
        if let address = environment["DBUS_SYSTEM_BUS_ADDRESS"], !address.isEmpty {
            return BusAddress(address: address)
        }
        let path = root.path("/run/dbus/system_bus_socket").utf8.map { byte in
            // All but these is written in hexadecimal (D-Bus specification, "Server Addresses").
            let character = Character(UnicodeScalar(byte))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber || "-_/.".contains(character))
            return isPlain ? String(character) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return BusAddress(address: "unix:path=" + path.joined())
    }
}

package struct BusError: Error, Hashable {
    /// A few words.
    package var reason: String

    package init(reason: String) {
        self.reason = reason
    }
}

/// A connection to the system's message bus, for one thread. Nothing on it takes longer than its deadline.
final class SystemBus {
    /// How long one question may take (rule 49).
    static let deadline: Duration = .milliseconds(500)

    private let connection: OpaquePointer

    init(_ bus: BusAddress) throws(BusError) {
        let parts = bus.address.split(separator: ";")
        if !parts.isEmpty, parts.allSatisfy({ Self.isMissingSocket(String($0)) }) {
            throw BusError(reason: "no system bus at \(bus.address)")
        }
        var opened: OpaquePointer?
        try Self.call { reason, size in
            bg_bus_open(bus.library, bus.address, Self.microseconds(Self.deadline), &opened, reason, size)
        }
        guard let opened else { throw BusError(reason: "no system bus") }
        connection = opened
    }

    deinit { bg_bus_close(connection) }

    struct Member {
        var service: String
        var path: String
        var interface: String
        var member: String
    }

    func bool(_ property: Member) throws(BusError) -> Bool {
        var value: Int32 = 0
        try Self.call { reason, size in
            Self.withMember(property) {
                bg_bus_get_bool(connection, $0, Self.microseconds(Self.deadline), &value, reason, size)
            }
        }
        return value != 0
    }

    func unsigned(_ property: Member) throws(BusError) -> UInt32 {
        var value: UInt32 = 0
        try Self.call { reason, size in
            Self.withMember(property) {
                bg_bus_get_uint32(connection, $0, Self.microseconds(Self.deadline), &value, reason, size)
            }
        }
        return value
    }

    func string(_ property: Member, within deadline: Duration = deadline) throws(BusError) -> String {
        var value = [CChar](repeating: 0, count: 256)
        try Self.call { reason, size in
            Self.withMember(property) {
                bg_bus_get_string(
                    connection, $0, Self.microseconds(deadline), &value, value.count, reason, size)
            }
        }
        return Self.text(value)
    }

    /// Object paths of logind's sessions, 64 of them at most.
    func sessions() throws(BusError) -> [String] {
        var sessions = [bg_bus_session](repeating: bg_bus_session(), count: 64)
        var count = 0
        try Self.call { reason, size in
            let result = bg_bus_list_sessions(
                connection, Self.microseconds(Self.deadline), &sessions, sessions.count, reason, size)
            count = Int(max(0, result))
            return min(0, result)
        }
        return sessions.prefix(count).map { session in
            withUnsafeBytes(of: session.path) { Self.text(Array($0.bindMemory(to: CChar.self))) }
        }
    }

    /// - Returns: A descriptor; closing it gives the inhibitor back.
    func inhibit(what: String, who: String, why: String) throws(BusError) -> Int32 {
        var descriptor: Int32 = -1
        try Self.call { reason, size in
            bg_bus_inhibit(
                connection, Self.microseconds(Self.deadline), what, who, why, "delay", &descriptor, reason, size)
        }
        return descriptor
    }

    /// Has signals that fit a match rule reported by ``process()``.
    func watch(_ match: String, tag: UInt8, ifFalse: UInt8 = 0) throws(BusError) {
        try Self.call { reason, size in bg_bus_watch(connection, match, tag, ifFalse, reason, size) }
    }

    var descriptor: Int32 { bg_bus_descriptor(connection) }

    /// What to poll the descriptor for.
    var events: Int16 { bg_bus_events(connection) }

    /// When ``process()`` has something to do though nothing came, on the monotonic clock.
    var processDeadline: Duration? {
        let deadline = bg_bus_deadline(connection)
        return deadline >= UInt64(Int64.max) ? nil : .microseconds(Int64(deadline))
    }

    /// Handles what has come.
    ///
    /// - Returns: The tags of the signals, in their order.
    func process() throws(BusError) -> [UInt8] {
        var tags = [UInt8](repeating: 0, count: 256)
        let count = bg_bus_process(connection, &tags, tags.count)
        guard count >= 0 else { throw BusError(reason: "the connection to the system bus was lost") }
        return Array(tags.prefix(Int(count)))
    }

    private static func call(_ body: (UnsafeMutablePointer<CChar>, Int) -> Int32) throws(BusError) {
        var reason = [CChar](repeating: 0, count: 256)
        let status = reason.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let start = buffer.baseAddress else { return -1 }
            return body(start, buffer.count)
        }
        if status < 0 { throw BusError(reason: text(reason)) }
    }

    private static func withMember(_ member: Member, _ body: (bg_bus_member) -> Int32) -> Int32 {
        member.service.withCString { service in
            member.path.withCString { path in
                member.interface.withCString { interface in
                    member.member.withCString { name in
                        body(bg_bus_member(service: service, path: path, interface: interface, member: name))
                    }
                }
            }
        }
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func microseconds(_ duration: Duration) -> UInt64 {
        UInt64(max(1, duration / .microseconds(1)))
    }

    /// The library would be opened, and say less, for a socket that is not there.
    private static func isMissingSocket(_ address: String) -> Bool {
        guard address.hasPrefix("unix:path="), !address.contains("%"), !address.contains(",") else { return false }
        return !FileManager.default.fileExists(atPath: String(address.dropFirst(10)))
    }
}
