import Foundation
import Glibc
import Locking
import SystemConditions
import TaskModel
import Testing

@Suite(.timeLimit(.minutes(15)))
struct MonitorTests {
    @Test("rule 41: a monitor reports conditions once at the start, and then each change")
    func changes() async throws {
        let fixture = try Fixture(Laptop.files)
        let monitor = ConditionsMonitor(fixture.reader())
        let log = ChangeLog()
        monitor.start(onChange: log.receiver)
        let first = try #require(await log.first())
        #expect(first.power == .battery && first.batteryPercent == 64)
        // Nothing has changed, so nothing is reported.
        monitor.refresh()
        try fixture.write("1\n", to: "sys/class/power_supply/AC/online")
        monitor.refresh()
        #expect(await log.first()?.power == .external)
        #expect(monitor.lastReadings?.power.source == "/sys/class/power_supply/AC")
        monitor.stop()
        withExtendedLifetime(fixture) {}
    }

    @Test("rule 54: while nothing happens the monitor does not wake")
    func noWakeUps() async throws {
        let fixture = try Fixture(Laptop.files)
        let monitor = ConditionsMonitor(fixture.reader())
        let log = ChangeLog()
        monitor.start(onChange: log.receiver)
        _ = await log.first()
        #expect(monitor.wakeUps == 0)
        // Real time goes by: nothing can be waited for here, since nothing is to happen.
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var silence = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        #expect(poll(&silence, 1, 400) == 0)
        #expect(monitor.wakeUps == 0)
        // Each order wakes it once.
        for level in 1...5 {
            try fixture.write("\(level)\n", to: "sys/class/power_supply/BAT0/capacity")
            monitor.refresh()
            #expect(await log.first()?.batteryPercent == Double(level))
            #expect(monitor.wakeUps == level)
        }
        monitor.stop()
        #expect(monitor.wakeUps == 6)
        withExtendedLifetime(fixture) {}
    }

    @Test("rule 46: sampling finds what no event reports, and ends when it is not asked for any more")
    func sampling() async throws {
        let fixture = try Fixture(Laptop.files)
        let monitor = ConditionsMonitor(fixture.reader())
        let log = ChangeLog()
        monitor.setSampling(interval: .milliseconds(100), of: [ConditionSet(.pressure), ConditionSet(.thermal)])
        monitor.start(onChange: log.receiver)
        _ = await log.first()
        try fixture.write("some avg10=75.00 avg60=1.00 avg300=0.50 total=1\n", to: "proc/pressure/cpu")
        // Not sampled, so not seen.
        try fixture.write("1\n", to: "sys/class/power_supply/BAT0/capacity")
        let change = await log.first { $0.cpuPressure == 75 }
        #expect(change?.batteryPercent == 64)
        monitor.setSampling(interval: nil, of: .all)
        monitor.refresh()
        #expect(await log.first { $0.batteryPercent == 1 } != nil)
        let wakeUps = monitor.wakeUps
        var nothing = pollfd(fd: -1, events: 0, revents: 0)
        #expect(poll(&nothing, 1, 350) == 0)
        // The order to end the sampling may have come in a wake-up of its own, before the refresh.
        #expect(monitor.wakeUps == wakeUps)
        monitor.stop()
        withExtendedLifetime(fixture) {}
    }

    @Test(
        "rule 41: after stop nothing is reported, also when a report itself stops the monitor, and it can start again")
    func stopping() async throws {
        let fixture = try Fixture(Laptop.files)
        let monitor = ConditionsMonitor(fixture.reader())
        let reports = Lock(0)
        monitor.start { _ in
            reports.withLock { $0 += 1 }
        }
        monitor.stop()
        let before = reports.withLock(\.self)
        #expect(before <= 1)
        monitor.refresh()
        monitor.stop()
        #expect(reports.withLock(\.self) == before)

        let log = ChangeLog()
        let receiver = log.receiver
        monitor.start { conditions in
            monitor.stop()
            receiver(conditions)
        }
        #expect(await log.first()?.power == .battery)
        monitor.start(onChange: log.receiver)
        #expect(await log.first()?.power == .battery)
        monitor.stop()
        withExtendedLifetime(fixture) {}
    }

    @Test("rule 41: current conditions are read anew, started or not")
    func current() async throws {
        let fixture = try Fixture(Laptop.files)
        let monitor = ConditionsMonitor(fixture.reader(free: 7), settings: ConditionSettings(outputFolders: ["/out"]))
        #expect(monitor.current().batteryPercent == 64)
        let log = ChangeLog()
        monitor.start(onChange: log.receiver)
        #expect(await log.first()?.freeDiskBytes == 7)
        try fixture.write("63\n", to: "sys/class/power_supply/BAT0/capacity")
        #expect(monitor.current().batteryPercent == 63)
        #expect(monitor.lastReadings?.batteryPercent.value == 64)
        // Settings take effect at once.
        monitor.apply(ConditionSettings(lowPowerMode: true))
        #expect(await log.first { $0.lowPowerMode == true }?.freeDiskBytes == .some(nil))
        monitor.stop()
        withExtendedLifetime(fixture) {}
    }

    @Test("rule 42, rule 48, rule 54: the kernel's power and route events are heard, others are not")
    func kernelEvents() async throws {
        let fixture = try Fixture(Laptop.files)
        var devices: [Int32] = [-1, -1]
        var routes: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &devices) == 0)
        try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &routes) == 0)
        defer {
            close(devices[1])
            close(routes[1])
        }
        let monitor = ConditionsMonitor(fixture.reader(), deviceEvents: devices[0], routeEvents: routes[0])
        let log = ChangeLog()
        monitor.start(onChange: log.receiver)
        _ = await log.first()

        // What was read anew once is not read with every later event.
        try fixture.write("60\n", to: "sys/class/power_supply/BAT0/capacity")
        monitor.refresh()
        #expect(await log.first()?.batteryPercent == 60)
        #expect(monitor.eventDriven == [ConditionSet(.externalPower), ConditionSet(.network)])

        func send(_ text: String, to socket: Int32) {
            let bytes = Array(text.utf8)
            #expect(Glibc.send(socket, bytes, bytes.count, 0) == bytes.count)
        }
        try fixture.write("55\n", to: "sys/class/power_supply/BAT0/capacity")
        try fixture.write("102000\n", to: "sys/class/thermal/thermal_zone0/temp")
        send("add@/devices/usb1\0ACTION=add\0SUBSYSTEM=usb\0", to: devices[1])
        send("\u{1}\u{2}", to: devices[1])
        send("change@/devices/AC\0ACTION=change\0SUBSYSTEM=power_supply\0POWER_SUPPLY_NAME=AC\0", to: devices[1])
        let power = await log.first()
        #expect(power?.batteryPercent == 55)
        #expect(power?.thermal == .nominal)
        send("change@/devices/zone\0SUBSYSTEM=thermal\0", to: devices[1])
        #expect(await log.first()?.thermal == .critical)

        try fixture.remove("proc/net/ipv6_route")
        try fixture.write("Iface\tDestination\tGateway\n", to: "proc/net/route")
        send("any message of the routing socket", to: routes[1])
        #expect(await log.first()?.network == Conditions.Network.none)
        monitor.stop()
        withExtendedLifetime(fixture) {}
    }

    @Test("rule 46: a plain file in the place of the kernel's pressure is never written to")
    func noTriggerInFiles() async throws {
        let fixture = try Fixture(Laptop.files)
        let monitor = ConditionsMonitor(fixture.reader())
        let log = ChangeLog()
        monitor.start(onChange: log.receiver)
        _ = await log.first()
        monitor.stop()
        for (name, text) in Laptop.files {
            #expect(try String(contentsOfFile: "\(fixture.path)/\(name)", encoding: .utf8) == text, "\(name)")
        }
    }

    @Test("rule 46, rule 54: on the machine itself the monitor starts, reads and stops")
    func machine() async throws {
        let monitor = ConditionsMonitor(
            ConditionsReader(bus: BusAddress(address: "unix:path=/not/there")),
            settings: ConditionSettings(outputFolders: ["/tmp"]))
        let log = ChangeLog()
        monitor.start(onChange: log.receiver)
        let conditions = try #require(await log.first())
        #expect((conditions.availableMemoryBytes ?? 0) > 0)
        #expect((conditions.freeDiskBytes ?? 0) > 0)
        monitor.stop()
    }
}
