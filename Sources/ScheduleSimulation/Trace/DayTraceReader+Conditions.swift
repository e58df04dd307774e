import DescribedFile
import TaskModel

extension DayTraceReader {
    /// Changes of conditions; each keeps what it does not name. A line of a recording says everything anew.
    mutating func readConditions(
        _ value: DescribedValue?, recorded: [RecordedConditions.Line], _ recording: DescribedValue?
    ) {
        var changes: [(at: Duration, apply: (inout Conditions) -> Void)] = []
        for item in value?.items() ?? [] {
            guard let fields = item.fields(["at"] + ConditionFields.keys) else { continue }
            let setters = ConditionFields.setters(fields)
            // The first one may leave the time out: it is how the day begins.
            guard let at = fields["at"] == nil && changes.isEmpty ? .zero : time(fields) else { continue }
            if fields.keys.allSatisfy({ $0 == "at" }) {
                item.refuse(
                    "noCondition", "This names no condition.",
                    fix: "Add one of \(ConditionFields.keys.joined(separator: ", ")).")
            }
            changes.append((at, { conditions in for set in setters { set(&conditions) } }))
        }
        let inside = recorded.filter { line in
            let at = line.at - day.start.sinceEpoch
            return at >= .zero && at < day.length
        }
        if let recording, inside.isEmpty, !recorded.isEmpty {
            recording.refuse(
                "recordedElsewhen", "None of the recorded conditions is within the day.",
                fix: "Leave out \"start\" to begin with the recording.")
        }
        for line in inside { changes.append((line.at - day.start.sinceEpoch, { $0 = line.conditions })) }
        var conditions = Conditions()
        for change in changes.enumerated().sorted(by: {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }).map(\.element) {
            change.apply(&conditions)
            day.entries.append(.init(at: change.at, .conditions(conditions)))
        }
    }
}

/// The keys of conditions, named as `bgrun conditions --json` names them. Each may be `unknown`.
enum ConditionFields {
    static let keys = [
        "power", "batteryPercent", "lowPowerMode", "thermal", "cpuPressure", "ioPressure", "memoryPressure",
        "availableMemoryBytes", "freeDiskBytes", "network", "userIdle", "foreignGPULoad",
    ]

    typealias Setter = (inout Conditions) -> Void

    static func setters(_ fields: DescribedFields) -> [Setter] {
        var found: [Setter] = []
        func add<Value>(
            _ key: String, _ path: WritableKeyPath<Conditions, Value?>, _ read: (DescribedValue) -> Value?
        ) {
            guard let value = fields[key] else { return }
            if value.isUnknown {
                found.append { $0[keyPath: path] = nil }
            } else if let read = read(value) {
                found.append { $0[keyPath: path] = read }
            }
        }
        add("power", \.power) { $0.choice(["external": .external, "battery": .battery]) }
        add("batteryPercent", \.batteryPercent) { $0.percent() }
        add("lowPowerMode", \.lowPowerMode) { $0.flag() }
        add("thermal", \.thermal) {
            $0.choice(["nominal": .nominal, "fair": .fair, "serious": .serious, "critical": .critical])
        }
        add("cpuPressure", \.cpuPressure) { $0.percent() }
        add("ioPressure", \.ioPressure) { $0.percent() }
        add("memoryPressure", \.memoryPressure) { $0.percent() }
        add("availableMemoryBytes", \.availableMemoryBytes) { $0.bytes() }
        add("freeDiskBytes", \.freeDiskBytes) { $0.bytes() }
        add("network", \.network) {
            $0.choice(["none": .none, "metered": .metered, "unmetered": .unmetered, "routed": .routed])
        }
        add("userIdle", \.userIdle) { $0.flag() }
        add("foreignGPULoad", \.foreignGPULoad) { $0.percent() }
        return found
    }
}

extension DescribedValue {
    /// A value that could not be read.
    fileprivate var isUnknown: Bool {
        guard isScalar, let text = text() else { return false }
        return text == "unknown" || text == "null"
    }
}
