import SystemConditions
import TaskModel
import Testing

struct NetworkTests {
    private static let heading = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"

    private static func version4(_ interface: String, flags: String = "0003", mask: String = "00000000") -> String {
        heading + "\(interface)\t00000000\t010200C0\t\(flags)\t0\t0\t0\t\(mask)\t0\t0\t0\n"
    }

    private static func version6(_ interface: String, flags: String = "00000003", prefix: String = "00") -> String {
        let zero = String(repeating: "0", count: 32)
        return "\(zero) \(prefix) \(zero) 00 \(zero) 00000400 00000003 00000000 \(flags)    \(interface)\n"
    }

    @Test("rule 48: a default route of either version over a link that is up is a network")
    func routes() throws {
        for files in [
            ["proc/net/route": Self.version4("eth0")],
            ["proc/net/route": Self.heading, "proc/net/ipv6_route": Self.version6("eth0")],
            // A point-to-point link has no gateway, and a tunnel's state is not known.
            ["proc/net/route": Self.version4("tun0", flags: "0001"), "sys/class/net/tun0/operstate": "unknown\n"],
        ] {
            #expect(try Fixture(files).read().network.value == .routed, "\(files)")
        }
    }

    @Test("rule 48: routes that lead nowhere are no network")
    func noRoute() throws {
        for files in [
            ["proc/net/route": Self.heading],
            ["proc/net/route": Self.version4("eth0", mask: "000000FF")],
            ["proc/net/route": Self.version4("eth0", flags: "0201")],
            ["proc/net/route": Self.version4("eth0"), "sys/class/net/eth0/operstate": "down\n"],
            ["proc/net/route": Self.version4("eth0"), "sys/class/net/eth0/operstate": "dormant\n"],
            ["proc/net/ipv6_route": Self.version6("lo", flags: "00200200")],
            ["proc/net/ipv6_route": Self.version6("eth0", prefix: "40")],
        ] {
            #expect(try Fixture(files).read().network.value == Conditions.Network.none, "\(files)")
        }
    }

    @Test("rule 41, rule 48: without a readable table of routes the network is unknown")
    func noTable() throws {
        #expect(try Fixture().read().network.unknownBecause == "/proc/net/route does not exist")
        let garbage = try Fixture(["proc/net/route": "-ENODEV", "proc/net/ipv6_route": "\u{1}\u{2}\n"])
        #expect(garbage.read().network.unknownBecause == "/proc/net/route holds no routes")
    }
}
