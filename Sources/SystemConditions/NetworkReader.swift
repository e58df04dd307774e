import TaskModel

/// Whether a default route exists, from the kernel's tables, and whether it is metered, from NetworkManager (rule 48).
/// Nothing is sent anywhere to find out.
struct NetworkReader {
    let root: SystemRoot
    /// NetworkManager's answer: 0 unknown, 1 yes, 2 no, 3 and 4 the same as a guess.
    let metered: Reading<UInt32>

    func read() -> Reading<Conditions.Network> {
        let tables = [
            (path: "/proc/net/route", read: Self.version4), (path: "/proc/net/ipv6_route", read: Self.version6),
        ]
        var trouble: String?
        var isKnown = false
        for table in tables {
            do {
                guard let interfaces = table.read(try root.text(table.path)) else {
                    trouble = trouble ?? "\(table.path) holds no routes"
                    continue
                }
                isKnown = true
                if let interface = interfaces.first(where: isUsable) { return route(interface, table.path) }
            } catch {
                trouble = trouble ?? error.words
            }
        }
        guard isKnown else { return .unknown(trouble ?? "no table of routes") }
        return .known(.none, source: tables.map(\.path).joined(separator: ", "), note: "no usable default route")
    }

    private func route(_ interface: String, _ path: String) -> Reading<Conditions.Network> {
        switch metered {
        case .known(1, let source, _), .known(3, let source, _): .known(.metered, source: source, note: interface)
        case .known(2, let source, _), .known(4, let source, _): .known(.unmetered, source: source, note: interface)
        default: .known(.routed, source: path, note: "\(interface); nothing tells whether it is metered")
        }
    }

    /// An interface that has no carrier keeps its routes for a while.
    private func isUsable(_ interface: String) -> Bool {
        guard !interface.contains("/"), interface != "..", interface != "lo" else { return false }
        guard let state = try? root.line("/sys/class/net/\(interface)/operstate") else { return true }
        // Tunnels and point-to-point links are always `unknown`.
        return state == "up" || state == "unknown" || state.isEmpty
    }

    /// Interfaces of default routes in `/proc/net/route`; nil when it is no such table.
    static func version4(_ text: String) -> [String]? {
        let lines = text.split(separator: "\n")
        guard lines.first?.hasPrefix("Iface") == true else { return nil }
        return lines.dropFirst().compactMap { line in
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count >= 8, fields[1] == "00000000", fields[7] == "00000000",
                let flags = UInt32(fields[3], radix: 16), isGood(flags)
            else { return nil }
            return String(fields[0])
        }
    }

    /// Interfaces of default routes in `/proc/net/ipv6_route`, which has no heading; nil when it is no such table.
    static func version6(_ text: String) -> [String]? {
        var interfaces: [String] = []
        for line in text.split(separator: "\n") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count == 10, fields[0].utf8.count == 32, let flags = UInt32(fields[8], radix: 16) else {
                return nil
            }
            let isDefault = fields[0].utf8.allSatisfy { $0 == UInt8(ascii: "0") } && fields[1] == "00"
            if isDefault && isGood(flags) && fields[9] != "lo" { interfaces.append(String(fields[9])) }
        }
        return interfaces
    }

    /// RTF_UP and not RTF_REJECT. A gateway (RTF_GATEWAY) is not asked for: point-to-point links have none.
    private static func isGood(_ flags: UInt32) -> Bool { flags & 0x0001 != 0 && flags & 0x0200 == 0 }
}
