import SystemConditions
import Testing

struct EnergyTests {
    private static let rapl = "sys/class/powercap/intel-rapl:"

    private static func zone(_ number: String, _ name: String, _ energy: Int) -> [String: String] {
        [
            "\(rapl)\(number)/name": name + "\n", "\(rapl)\(number)/energy_uj": "\(energy)\n",
            "\(rapl)\(number)/max_energy_range_uj": "10000000\n",
        ]
    }

    @Test("rule 97: packages and memory are counted, cores are part of them, and counters begin anew")
    func counters() throws {
        let fixture = try Fixture(
            Self.zone("0", "package-0", 9_000_000).merging(Self.zone("0:0", "core", 1_000_000)) { $1 }
                .merging(Self.zone("0:1", "dram", 500_000)) { $1 })
        var meter = EnergyMeter(root: fixture.root)
        #expect(meter.take(at: .seconds(1)) == nil)
        try fixture.write("1500000\n", to: "\(Self.rapl)0/energy_uj")
        try fixture.write("9000000\n", to: "\(Self.rapl)0:0/energy_uj")
        try fixture.write("750000\n", to: "\(Self.rapl)0:1/energy_uj")
        #expect(meter.take(at: .seconds(2)) == 2.75)
        #expect(meter.take(at: .seconds(3)) == 0)
    }

    @Test("rule 97: where the whole platform is counted, its parts are not counted again")
    func platform() throws {
        let fixture = try Fixture(
            Self.zone("0", "package-0", 0).merging(Self.zone("1", "psys", 1_000_000)) { $1 })
        var meter = EnergyMeter(root: fixture.root)
        _ = meter.take(at: .seconds(1))
        try fixture.write("4000000\n", to: "\(Self.rapl)0/energy_uj")
        try fixture.write("7000000\n", to: "\(Self.rapl)1/energy_uj")
        #expect(meter.take(at: .seconds(2)) == 6)
    }

    @Test("rule 97: power is energy by its time, unless nobody looked for long")
    func power() throws {
        let fixture = try Fixture([
            "sys/class/hwmon/hwmon0/name": "power_meter\n", "sys/class/hwmon/hwmon0/power1_average": "40000000\n",
        ])
        var meter = EnergyMeter(root: fixture.root)
        #expect(meter.take(at: .seconds(0)) == nil)
        try fixture.write("60000000\n", to: "sys/class/hwmon/hwmon0/power1_average")
        #expect(meter.take(at: .seconds(10)) == 500)
        #expect(meter.take(at: .seconds(1_000)) == nil)
    }

    @Test("rule 97: a battery tells what flows out of it, not what flows in, and a mouse's is none")
    func battery() throws {
        let fixture = try Fixture(Laptop.files)
        var meter = EnergyMeter(root: fixture.root)
        #expect(meter.take(at: .seconds(0)) == nil)
        try fixture.write("-2000000\n", to: "sys/class/power_supply/BAT0/current_now")
        try fixture.write("12000000\n", to: "sys/class/power_supply/BAT0/voltage_now")
        #expect(meter.take(at: .seconds(1)) == nil)
        #expect(meter.take(at: .seconds(11)) == 240)
        try fixture.write("Charging\n", to: "sys/class/power_supply/BAT0/status")
        #expect(meter.take(at: .seconds(12)) == nil)
    }

    @Test("rule 97: whatever a battery says is no fault, and its sign does not count")
    func hostileBattery() throws {
        let fixture = try Fixture(Laptop.files)
        let battery = "sys/class/power_supply/BAT0"
        var meter = EnergyMeter(root: fixture.root)
        try fixture.write("\(Int.min)\n", to: "\(battery)/current_now")
        try fixture.write("\(Int.min)\n", to: "\(battery)/voltage_now")
        #expect(meter.take(at: .seconds(0)) == nil)
        try fixture.write("\(Int.min)\n", to: "\(battery)/power_now")
        #expect(meter.take(at: .seconds(1)) == nil)
        #expect((meter.take(at: .seconds(2)) ?? 0) > 0)
        try fixture.write("-15000000\n", to: "\(battery)/power_now")
        _ = meter.take(at: .seconds(3))
        #expect(meter.take(at: .seconds(13)) == 150)
    }

    @Test("rule 97: a machine that counts nothing, or nonsense, has no energy")
    func nothing() throws {
        for files in [[:], ["\(Self.rapl)0/name": "package-0", "\(Self.rapl)0/energy_uj": "much"]] {
            var meter = EnergyMeter(root: try Fixture(files).root)
            #expect(meter.take(at: .seconds(0)) == nil)
            #expect(meter.take(at: .seconds(1)) == nil)
        }
    }
}
