import FoundationEssentials
import SystemConditions
import TaskModel

/// One condition as it is shown.
struct ConditionRow: Equatable {
    enum Value: Equatable {
        case text(String)
        case number(Double)
        case integer(Int)
        case flag(Bool)
    }

    /// Stable name in JSON.
    var key: String
    var title: String
    var value: Value?
    /// The value as a person reads it.
    var text: String
    var source: String?
    var note: String
    var unknownBecause: String?
    var rule: Int
    /// What the condition does to work.
    var effect: String
    /// For allowed hours that are over: when they begin again.
    var nextAllowed: Duration?

    private init<Reported>(
        _ key: String, _ title: String, _ kind: ConditionKind, _ reading: Reading<Reported>, effect: String,
        _ show: (Reported) -> (Value, String)
    ) {
        self.key = key
        self.title = title
        let shown = reading.value.map(show)
        value = shown?.0
        text = shown?.1 ?? "unknown"
        source = reading.source
        note = reading.note
        unknownBecause = reading.unknownBecause
        rule = kind.rule
        self.effect = effect
    }

    /// Every condition, in a fixed order.
    static func all(_ readings: ConditionReadings, _ allowed: AllowedNow) -> [ConditionRow] {
        let limits = ConditionThresholds.standard
        return [
            ConditionRow(
                "power", "power", .externalPower, readings.power,
                effect: "on battery, work that requires external power waits"
            ) { (.text($0.rawValue), $0.rawValue) },
            ConditionRow(
                "batteryPercent", "battery", .batteryLevel, readings.batteryPercent,
                effect: "below \(percent(limits.battery.stop)) background work stops, \(percent(limits.battery.resume))"
                    + " starts it again after \(seconds(limits.batteryDwell))", percentage),
            ConditionRow(
                "lowPowerMode", "low power mode", .lowPowerMode, readings.lowPowerMode,
                effect: "when on, background work pauses and foreground work is paced"
            ) { (.flag($0), $0 ? "on" : "off") },
            ConditionRow(
                "thermal", "thermal", .thermal, readings.thermal,
                effect: "serious paces all work to half, critical pauses background work until it has been over for"
                    + " \(seconds(limits.thermalDwell))"
            ) { (.text("\($0)"), "\($0)") },
            pressure("cpu", readings.cpuPressure, limits.cpuPressure),
            pressure("io", readings.ioPressure, limits.ioPressure),
            pressure("memory", readings.memoryPressure, limits.memoryPressure),
            ConditionRow(
                "availableMemoryBytes", "available memory", .memory, readings.availableMemoryBytes,
                effect: floor("background work", limits.memory), bytes),
            ConditionRow(
                "freeDiskBytes", "output volume", .outputVolume, readings.freeDiskBytes,
                effect: floor("work that writes there", limits.outputVolume), bytes),
            ConditionRow(
                "network", "network", .network, readings.network,
                effect: "without a route, work that requires a network waits"
            ) { (.text($0.rawValue), $0.rawValue) },
            ConditionRow(
                "userIdle", "user idle", .idle, readings.userIdle,
                effect: "processing requests run only while nobody uses the machine"
            ) { (.flag($0), $0 ? "yes" : "no") },
            hours(allowed),
            ConditionRow(
                "foreignGPULoad", "GPU used by others", .gpuContention, readings.foreignGPULoad,
                effect: "above \(percent(limits.gpuContention.stop)) background GPU work is held, below"
                    + " \(percent(limits.gpuContention.resume)) it goes on", percentage),
        ]
    }

    private static func pressure(
        _ resource: String, _ reading: Reading<Double>, _ band: ConditionThresholds.Band
    ) -> ConditionRow {
        ConditionRow(
            "\(resource)Pressure", "\(resource) pressure", .pressure, reading,
            effect:
                "above \(percent(band.stop)) refresh and processing do not start and other background work is paced,"
                + " \(percent(band.resume)) ends that", percentage)
    }

    private static func hours(_ allowed: AllowedNow) -> ConditionRow {
        var row = ConditionRow(
            "allowedHours", "allowed hours", .allowedHours, allowed.reading,
            effect: "quiet hours, and prices above the limit, hold background work back"
        ) { (.flag($0), $0 ? "allowed" : "held back") }
        row.nextAllowed = allowed.nextAllowed
        return row
    }

    private static func floor(_ work: String, _ band: ConditionThresholds.Band) -> String {
        "below \(DeviceListing.bytes(Int(band.stop))) \(work) pauses,"
            + " from \(DeviceListing.bytes(Int(band.resume))) on it goes on"
    }

    private static func percentage(_ value: Double) -> (Value, String) { (.number(value), percent(value)) }
    private static func bytes(_ value: Int) -> (Value, String) { (.integer(value), DeviceListing.bytes(value)) }
    private static func percent(_ value: Double) -> String { "\(Int(value.rounded())) %" }
    private static func seconds(_ value: Duration) -> String { "\(value.components.seconds) s" }
}

/// What quiet hours and prices say at one moment.
struct AllowedNow {
    var reading: Reading<Bool>
    /// Set while work is held back.
    var nextAllowed: Duration?
    /// When this will be different; nil for not within the days that are looked at.
    var changesAt: Duration?

    init(_ hours: AllowedHours, at now: Duration) {
        guard !hours.quietHours.isEmpty || hours.prices != nil else {
            reading = .known(true, source: "no quiet hours and no prices given")
            return
        }
        let sources = [hours.quietHours.isEmpty ? nil : "quiet hours", hours.prices == nil ? nil : "price file"]
        let source = sources.compactMap(\.self).joined(separator: ", ")
        let blocked = hours.blocked(from: now, days: 2)
        let next = AllowedHours.nextAllowed(from: now, blocked: blocked)
        if next > now {
            nextAllowed = next
            changesAt = next
            reading = .known(false, source: source, note: "until \(LocalTime.minutes(next))")
        } else {
            changesAt = blocked.first?.lowerBound
            reading = .known(true, source: source, note: changesAt.map { "until \(LocalTime.minutes($0))" } ?? "")
        }
    }
}
