import SystemConditions
import TaskModel
import Testing

struct ThermalTests {
    private static func zone(_ number: Int, _ temperature: String, trips: [(type: String, temperature: String)])
        -> [String: String]
    {
        let folder = "sys/class/thermal/thermal_zone\(number)"
        var files = ["\(folder)/type": "zone\(number)\n", "\(folder)/temp": "\(temperature)\n"]
        for (index, trip) in trips.enumerated() {
            files["\(folder)/trip_point_\(index)_type"] = trip.type + "\n"
            files["\(folder)/trip_point_\(index)_temp"] = trip.temperature + "\n"
        }
        return files
    }

    @Test(
        "rule 45: what counts is the distance to the sensor's own critical temperature",
        arguments: [
            (50000, Conditions.ThermalState.nominal), (79999, .nominal), (80000, .fair), (89999, .fair),
            (90000, .serious), (96999, .serious), (97000, .critical), (120000, .critical), (-20000, .nominal),
        ])
    func critical(temperature: Int, state: Conditions.ThermalState) throws {
        let zone = try Fixture(Self.zone(0, "\(temperature)", trips: [("critical", "100000")]))
        #expect(zone.read().thermal.value == state)
        let monitor = try Fixture([
            "sys/class/hwmon/hwmon0/temp2_input": "\(temperature)", "sys/class/hwmon/hwmon0/temp2_crit": "100000",
        ])
        #expect(monitor.read().thermal.value == state)
        // The same temperature is nothing for a sensor with a higher limit.
        let tougher = try Fixture(Self.zone(0, "\(min(temperature, 100_000))", trips: [("critical", "190000")]))
        #expect(tougher.read().thermal.value == .nominal)
    }

    @Test(
        "rule 45: where the kernel begins to slow the machine down it is serious",
        arguments: [
            (64999, Conditions.ThermalState.nominal), (65000, .fair), (69999, .fair), (70000, .serious),
        ])
    func passive(temperature: Int, state: Conditions.ThermalState) throws {
        let trips = [("active", "30000"), ("passive", "70000"), ("critical", "110000")]
        #expect(try Fixture(Self.zone(0, "\(temperature)", trips: trips)).read().thermal.value == state)
    }

    @Test("rule 45: the worst of zones and hardware monitors counts, and is named")
    func worst() throws {
        let files = Self.zone(0, "40000", trips: [("critical", "100000")]).merging(
            Self.zone(1, "85000", trips: [("critical", "100000")])
        ) { $1 }.merging([
            "sys/class/hwmon/hwmon3/name": "nvme", "sys/class/hwmon/hwmon3/temp1_label": "Composite",
            "sys/class/hwmon/hwmon3/temp1_input": "78000", "sys/class/hwmon/hwmon3/temp1_crit": "84850",
        ]) { $1 }
        let thermal = try Fixture(files).read().thermal
        #expect(
            thermal
                == .known(
                    .serious, source: "/sys/class/hwmon/hwmon3/temp1_input", note: "nvme Composite 78 °C of 85 °C"))
    }

    @Test("rule 41, rule 45: sensors without a believable limit or temperature tell nothing")
    func unbelievable() throws {
        #expect(try Fixture().read().thermal.unknownBecause?.hasPrefix("no temperature sensor below") == true)
        let unlimited = Self.zone(
            0, "90000", trips: [("passive", "0"), ("critical", "-274000"), ("critical", "9999999999")])
        #expect(try Fixture(unlimited).read().thermal.unknownBecause == "no temperature sensor tells its limit")
        for temperature in ["", "N/A", "-ENODEV", "-128000", "99999999999999999999", "1000000"] {
            let thermal = try Fixture(Self.zone(0, temperature, trips: [("critical", "100000")])).read().thermal
            #expect(thermal.value == nil, "\(temperature)")
        }
    }
}
