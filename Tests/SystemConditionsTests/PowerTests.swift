import SystemConditions
import TaskModel
import Testing

struct PowerTests {
    private static func supply(_ name: String, _ fields: [String: String]) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: fields.map { ("sys/class/power_supply/\(name)/\($0.key)", "\($0.value)\n") })
    }

    private static func read(_ supplies: [String: [String: String]]) throws -> ConditionReadings {
        let fixture = try Fixture(["sys/class/power_supply/.keep": ""])
        for (name, fields) in supplies {
            for (file, text) in supply(name, fields) { try fixture.write(text, to: file) }
        }
        try fixture.remove("sys/class/power_supply/.keep")
        return fixture.read()
    }

    @Test("rule 42: no battery at all counts as external power")
    func noBattery() throws {
        let readings = try Self.read([:])
        #expect(readings.power.value == .external)
        #expect(readings.batteryPercent.unknownBecause == "there is no battery")
        // A kernel without the class has none either.
        #expect(try Fixture(["sys/class/net/eth0/operstate": "up"]).read().power.value == .external)
    }

    @Test("rule 41, rule 42: without a /sys nothing is known of the power")
    func noSystem() throws {
        let power = try Fixture().read().power
        #expect(power.value == nil)
        #expect(power.unknownBecause == "/sys/class/power_supply does not exist")
    }

    @Test(
        "rule 42: any line supply that is online means external power",
        arguments: ["Mains", "USB", "USB_PD", "Wireless"])
    func line(type: String) throws {
        for online in ["1", "2"] {
            let readings = try Self.read([
                "AC": ["type": "Mains", "online": "0"], "other": ["type": type, "online": online],
                "BAT0": ["type": "Battery", "status": "Discharging", "capacity": "50"],
            ])
            #expect(readings.power == .known(.external, source: "/sys/class/power_supply/other"))
        }
    }

    @Test("rule 42: a battery that is full or not charging is on external power while the line is online")
    func notCharging() throws {
        for status in ["Not charging", "Full", "Charging", "Unknown"] {
            let readings = try Self.read([
                "AC": ["type": "Mains", "online": "1"],
                "BAT0": ["type": "Battery", "status": status, "capacity": "80"],
            ])
            #expect(readings.power.value == .external, "\(status)")
            #expect(readings.batteryPercent.value == 80)
        }
    }

    @Test("rule 42: with every line supply offline the machine is on battery")
    func onBattery() throws {
        for status in ["Discharging", "Full", "Unknown"] {
            let readings = try Self.read([
                "AC": ["type": "Mains", "online": "0"],
                "BAT0": ["type": "Battery", "status": status, "capacity": "80"],
            ])
            #expect(readings.power.value == .battery, "\(status)")
        }
    }

    @Test("rule 42: the battery of a mouse and an empty slot are no batteries of the machine")
    func deviceScope() throws {
        let readings = try Self.read([
            "mouse": ["type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "3"],
            "BAT1": ["type": "Battery", "present": "0", "status": "Unknown"],
        ])
        #expect(readings.power.value == .external)
        #expect(readings.batteryPercent.value == nil)
    }

    @Test("rule 42: a machine behind a UPS is on battery only while that one discharges")
    func ups() throws {
        #expect(
            try Self.read(["ups": ["type": "UPS", "status": "Charging", "capacity": "90"]]).power.value == .external)
        let draining = try Self.read(["ups": ["type": "UPS", "status": "Discharging", "capacity": "90"]])
        #expect(draining.power.value == .battery)
        #expect(draining.batteryPercent.value == 90)
    }

    @Test("rule 41, rule 42: where nothing tells whether the line is online, the power is unknown")
    func unreadable() throws {
        let noAnswer = try Self.read([
            "AC": ["type": "Mains", "online": "-ENODEV"],
            "BAT0": ["type": "Battery", "status": "Unknown", "capacity": "80"],
        ])
        #expect(noAnswer.power.unknownBecause == "/sys/class/power_supply/AC/online cannot be read")
        let noType = try Self.read(["BAT0": ["status": "Full"]])
        #expect(noType.power.unknownBecause == "/sys/class/power_supply/BAT0/type cannot be read")
        // A battery that drains tells enough.
        let draining = try Self.read(["AC": ["type": "Mains"], "BAT0": ["type": "Battery", "status": "Discharging"]])
        #expect(draining.power.value == .battery)
        #expect(draining.batteryPercent.unknownBecause == "/sys/class/power_supply/BAT0/capacity holds no percentage")
    }

    @Test("rule 43: several batteries count by their size, and a missing percentage comes from the energy")
    func severalBatteries() throws {
        let readings = try Self.read([
            "BAT0": ["type": "Battery", "capacity": "100", "energy_full": "30000000", "status": "Discharging"],
            "BAT1": ["type": "Battery", "energy_now": "5000000", "energy_full": "10000000", "status": "Discharging"],
        ])
        #expect(readings.batteryPercent.value == 87.5)
    }

    @Test(
        "rule 41, rule 43: a level that cannot be is unknown",
        arguments: ["", "-1", "101", "99999999999999999999", "N/A", "-ENODEV", "nan", "0x10", "1e2"])
    func impossibleLevel(text: String) throws {
        let readings = try Self.read(["BAT0": ["type": "Battery", "status": "Discharging", "capacity": text]])
        #expect(readings.power.value == .battery)
        #expect(readings.batteryPercent.value == nil)
    }
}
