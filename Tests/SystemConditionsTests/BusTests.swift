import Foundation
import Glibc
import SystemConditions
import TaskModel
import Testing

@Suite(.timeLimit(.minutes(15)))
struct BusTests {
    private static let graphical = [
        "tmp/.X11-unix/X0": "",
        "proc/net/route": "Iface\nwlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n",
    ]

    private func read(_ bus: MockBus, _ fixture: Fixture) -> ConditionReadings {
        var meter = GPULoadMeter()
        return fixture.reader(bus: bus.address).read(ConditionSettings(), meter: &meter)
    }

    @Test("rule 49: logind's idle hint decides while a graphical session exists")
    func idleHint() throws {
        let bus = try MockBus()
        let fixture = try Fixture(Self.graphical)
        try bus.run("logind(False)")
        #expect(
            read(bus, fixture).userIdle
                == .known(true, source: "org.freedesktop.login1", note: "no graphical session"))
        try bus.run("session('wayland', 'greeter')")
        #expect(read(bus, fixture).userIdle.value == true, "a login screen is no session of a person")
        try bus.run("mock(LOGIN, LOGIN_PATH + '/session/s1').UpdateProperties(LOGIN + '.Session', {'Class': 'user'})")
        #expect(read(bus, fixture).userIdle == .known(false, source: "org.freedesktop.login1"))
        try bus.run("idle(True)")
        #expect(read(bus, fixture).userIdle == .known(true, source: "org.freedesktop.login1"))
        try bus.run("stop(LOGIN)")
        #expect(read(bus, fixture).userIdle.value == nil)
    }

    @Test(
        "rule 48: NetworkManager tells whether the route is metered",
        arguments: [
            (0, Conditions.Network.routed), (1, .metered), (2, .unmetered), (3, .metered), (4, .unmetered),
            (77, .routed),
        ])
    func metered(value: Int, network: Conditions.Network) throws {
        let bus = try MockBus()
        try bus.run("network(\(value))")
        #expect(read(bus, try Fixture(Self.graphical)).network.value == network)
        // Metered or not, without a route there is none.
        #expect(read(bus, try Fixture(["proc/net/route": "Iface\n"])).network.value == Conditions.Network.none)
    }

    @Test(
        "rule 44: the profile service tells low power mode under its old and its new name",
        arguments: ["org.freedesktop.UPower.PowerProfiles", "net.hadess.PowerProfiles"])
    func profiles(service: String) throws {
        let bus = try MockBus()
        let fixture = try Fixture()
        try bus.run("profiles('\(service)', 'balanced')")
        #expect(read(bus, fixture).lowPowerMode == .known(false, source: service, note: "balanced"))
        try bus.run("profile('\(service)', 'power-saver')")
        #expect(read(bus, fixture).lowPowerMode == .known(true, source: service, note: "power-saver"))
        // The platform's own profile comes first.
        let platform = try Fixture(["sys/firmware/acpi/platform_profile": "balanced"])
        #expect(read(bus, platform).lowPowerMode.value == false)
    }

    @Test("rule 41: without a library, a bus or a service the conditions are unknown, with the reason")
    func absent() throws {
        let fixture = try Fixture(Self.graphical)
        var meter = GPULoadMeter()
        func reason(_ address: BusAddress) -> String? {
            fixture.reader(bus: address).read(ConditionSettings(), meter: &meter).lowPowerMode.unknownBecause
        }
        let gone = BusAddress(address: "unix:path=\(fixture.path)/none")
        #expect(reason(gone) == "no platform profile; no system bus at unix:path=\(fixture.path)/none")
        let bus = try MockBus()
        let noLibrary = BusAddress(address: bus.address.address, library: "libnot-there.so.0")
        #expect(reason(noLibrary)?.contains("libnot-there.so.0") == true)
        let otherLibrary = BusAddress(address: bus.address.address, library: "libm.so.6")
        #expect(reason(otherLibrary) == "no platform profile; libm.so.6 has no sd_bus_new")
        #expect(reason(BusAddress(address: "nonsense"))?.hasPrefix("no platform profile; the system bus: ") == true)
        let noService = try #require(reason(bus.address))
        #expect(noService.contains("org.freedesktop.UPower.PowerProfiles"), "\(noService)")
    }

    @Test("rule 49: a bus that accepts and says nothing, and a service that hangs, are given up")
    func stuck() throws {
        let fixture = try Fixture(Self.graphical)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(fixture.path)/mute".utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(listener, 5) == 0)
        var meter = GPULoadMeter()
        let mute = fixture.reader(bus: BusAddress(address: "unix:path=\(fixture.path)/mute"))
            .read(ConditionSettings(), meter: &meter)
        #expect(mute.lowPowerMode.unknownBecause == "no platform profile; the system bus gave no answer in time")

        let bus = try MockBus()
        try bus.run("logind(True)")
        try bus.run("session('x11')")
        try bus.run("freeze(LOGIN)")
        let hung = read(bus, fixture)
        #expect(hung.userIdle.value == nil)
        #expect(
            hung.userIdle.unknownBecause
                == "org.freedesktop.login1 gave no answer in time, and no terminal or input device tells")
        #expect(hung.network.value == .routed)
    }

    @Test("rule 44, rule 48, rule 49, rule 54: the monitor hears the services' signals, also of one that starts late")
    func signals() async throws {
        let bus = try MockBus()
        let fixture = try Fixture(Self.graphical)
        try bus.run("logind(False)")
        try bus.run("network(2)")
        let monitor = ConditionsMonitor(fixture.reader(bus: bus.address))
        let log = ChangeLog()
        monitor.start(onChange: log.receiver)
        let first = try #require(await log.first())
        #expect(first.network == .unmetered && first.userIdle == true && first.lowPowerMode == nil)
        #expect(monitor.eventDriven == ConditionSet(.idle))
        try bus.run("metered(1)")
        #expect(await log.first()?.network == .metered)
        try bus.run("session('x11')")
        #expect(await log.first()?.userIdle == false)
        try bus.run("idle(True)")
        #expect(await log.first()?.userIdle == true)
        try bus.run("profiles('net.hadess.PowerProfiles', 'power-saver')")
        try bus.run("profile('net.hadess.PowerProfiles', 'power-saver')")
        #expect(await log.first()?.lowPowerMode == true)
        #expect(monitor.current().lowPowerMode == true)
        try bus.run("stop(NM)")
        #expect(await log.first()?.network == .routed)
        monitor.stop()
    }

    @Test("rule 41: when the bus goes away the monitor goes on, and what it told is unknown")
    func lostBus() async throws {
        let fixture = try Fixture(Self.graphical)
        let bus = try MockBus()
        try bus.run("profiles('net.hadess.PowerProfiles', 'balanced')")
        let monitor = ConditionsMonitor(fixture.reader(bus: bus.address))
        let log = ChangeLog()
        monitor.start(onChange: log.receiver)
        #expect(await log.first()?.lowPowerMode == false)
        try bus.run("bus.set_exit_on_disconnect(False); daemon.kill()")
        #expect(await log.first { $0.lowPowerMode == nil } != nil)
        #expect(monitor.lastReadings?.lowPowerMode.unknownBecause?.contains("bus") == true)
        monitor.stop()
        withExtendedLifetime(fixture) {}
    }

    @Test("rule 78: sleep and shutdown are reported before and after")
    func sleep() async throws {
        let bus = try MockBus()
        let fixture = try Fixture(Self.graphical)
        try bus.run("logind(False)")
        let (events, continuation) = AsyncStream<SleepEvent>.makeStream()
        let monitor = ConditionsMonitor(fixture.reader(bus: bus.address))
        let log = ChangeLog()
        monitor.start(onSleep: { continuation.yield($0) }, onChange: log.receiver)
        _ = await log.first()
        for line in [
            "signal_logind('PrepareForSleep', True)", "signal_logind('PrepareForSleep', False)",
            "signal_logind('PrepareForShutdown', True)", "signal_logind('PrepareForShutdown', False)",
        ] { try bus.run(line) }
        var heard: [SleepEvent] = []
        for await event in events {
            heard.append(event)
            if heard.count == 4 { break }
        }
        #expect(heard == [.willSleep, .didWake, .willShutDown, .shutdownCancelled])
        monitor.stop()
    }

    @Test("rule 78: a delay inhibitor for sleep and shutdown is held until it is given back, and only once")
    func inhibitor() throws {
        let bus = try MockBus()
        try bus.run("logind(False)")
        let inhibitor = SleepInhibitor(bus.address)
        #expect(!inhibitor.isHeld)
        try inhibitor.hold(why: "12 pictures in work")
        try inhibitor.hold(why: "again")
        #expect(inhibitor.isHeld)
        try bus.run(
            "assert [i[:4] for i in inhibitors()] == [('sleep:shutdown', 'bgrun', '12 pictures in work', 'delay')]")
        inhibitor.release()
        inhibitor.release()
        #expect(!inhibitor.isHeld)
        try bus.run("wait(lambda: inhibitors() == [])")
    }

    @Test("rule 78: without logind there is no inhibitor, and an error that says so")
    func noInhibitor() throws {
        let bus = try MockBus()
        let inhibitor = SleepInhibitor(bus.address)
        let error = #expect(throws: BusError.self) { try inhibitor.hold(why: "work") }
        #expect(error?.reason.hasPrefix("org.freedesktop.login1") == true)
        #expect(!inhibitor.isHeld)
    }
}
