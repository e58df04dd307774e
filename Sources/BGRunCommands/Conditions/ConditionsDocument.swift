import FoundationEssentials

/// `bgrun conditions --json`: one object, whose keys are always there.
struct ConditionsDocument: Encodable {
    /// Raised when a field changes its meaning or goes away.
    let version = 1
    let time: String
    /// With `--watch`: the conditions that differ from the line before.
    var changed: [String]?
    let conditions: [ConditionRow]

    init(_ rows: [ConditionRow], time: Duration, changed: [String]? = nil) {
        self.time = LocalTime.iso8601(time)
        self.changed = changed
        conditions = rows
    }

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var document = encoder.container(keyedBy: Key.self)
        try document.encode(version, forKey: Key("version"))
        try document.encode(time, forKey: Key("time"))
        try document.encodeIfPresent(changed, forKey: Key("changed"))
        var list = document.nestedContainer(keyedBy: Key.self, forKey: Key("conditions"))
        for row in conditions {
            var object = list.nestedContainer(keyedBy: Key.self, forKey: Key(row.key))
            switch row.value {
            case .text(let value): try object.encode(value, forKey: Key("value"))
            case .number(let value): try object.encode(value, forKey: Key("value"))
            case .integer(let value): try object.encode(value, forKey: Key("value"))
            case .flag(let value): try object.encode(value, forKey: Key("value"))
            case nil: try object.encodeNil(forKey: Key("value"))
            }
            try object.encode(row.source, forKey: Key("source"))
            try object.encode(row.note.isEmpty ? nil : row.note, forKey: Key("note"))
            try object.encode(row.unknownBecause, forKey: Key("unknownBecause"))
            try object.encode(row.rule, forKey: Key("rule"))
            try object.encode(row.effect, forKey: Key("effect"))
            if row.key == "allowedHours" {
                try object.encode(row.nextAllowed.map(LocalTime.iso8601), forKey: Key("nextAllowed"))
            }
        }
    }

    /// One line, or several that are easier to read.
    func text(pretty: Bool) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
}
