import SchedulingCore
import Yams

/// A value in a described file. Each reader answers nil after noting what is wrong with it.
package struct DescribedValue {
    let node: Node
    /// Where it stands, e.g. `requests[2].at`.
    package let field: String
    package let log: MistakeLog

    /// Counted from 1.
    package var line: Int? { node.mark?.line }

    package func refuse(_ code: String, _ sentence: String, fix: String) {
        log.note(code, field: field, line: line, sentence, fix: fix)
    }

    // MARK: Structure

    package var isMapping: Bool { node.mapping != nil }
    package var isList: Bool { node.sequence != nil }
    package var isScalar: Bool { node.scalar != nil }

    /// Its keys, of which all have to be among those given.
    package func fields(_ keys: [String]) -> DescribedFields? {
        guard let mapping = node.mapping else {
            refuse(
                "notAMapping", "This does not consist of keys with values.",
                fix: "Write KEY: VALUE; the keys are \(Self.list(keys)).")
            return nil
        }
        var values: [String: DescribedValue] = [:]
        for (key, value) in mapping {
            let name = key.scalar?.string ?? ""
            let path = field.isEmpty ? name : "\(field).\(name)"
            guard keys.contains(name) else {
                let meant = ClosestNames.closest(to: name, among: keys)
                log.note(
                    "unknownKey", field: path, line: key.mark?.line, "\"\(name)\" is no key here.",
                    fix: meant.first.map { "Did you mean \"\($0)\"?" } ?? "Use one of \(Self.list(keys)).")
                continue
            }
            values[name] = DescribedValue(node: value, field: path, log: log)
        }
        return DescribedFields(values: values, owner: self)
    }

    /// Key and value of each entry, for keys that are not known beforehand.
    package func entries() -> [(key: DescribedValue, value: DescribedValue)]? {
        guard let mapping = node.mapping else {
            refuse("notAMapping", "This does not consist of keys with values.", fix: "Write KEY: VALUE.")
            return nil
        }
        return mapping.map { key, value in
            let path = "\(field).\(key.scalar?.string ?? "")"
            return (
                DescribedValue(node: key, field: path, log: log), DescribedValue(node: value, field: path, log: log)
            )
        }
    }

    package func items() -> [DescribedValue]? {
        guard let sequence = node.sequence else {
            refuse(
                "notAList", "This is not a list.",
                fix: "Write its values in brackets, or one in each line after \"- \".")
            return nil
        }
        return sequence.enumerated().map { index, element in
            DescribedValue(node: element, field: "\(field)[\(index)]", log: log)
        }
    }

    /// Its items, or itself where it is one value alone.
    package func itemsOrOne() -> [DescribedValue] { isList ? items() ?? [] : [self] }

    // MARK: Values

    package func text() -> String? {
        guard let scalar = node.scalar else {
            refuse("notText", "This is not one value.", fix: "Write one text or number.")
            return nil
        }
        return scalar.string
    }

    package func flag() -> Bool? {
        guard let text = text() else { return nil }
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default:
            refuse("notAFlag", "\"\(text)\" is neither yes nor no.", fix: "Write yes or no.")
            return nil
        }
    }

    package func number(in range: ClosedRange<Double>) -> Double? {
        guard let text = text() else { return nil }
        guard let value = Double(text), range.contains(value) else {
            refuse(
                "notANumber",
                "\"\(text)\" is no number from \(Self.short(range.lowerBound)) to "
                    + "\(Self.short(range.upperBound)).", fix: "Write such a number.")
            return nil
        }
        return value
    }

    package func integer(in range: ClosedRange<Int>) -> Int? {
        guard let text = text() else { return nil }
        guard let value = Int(text), range.contains(value) else {
            refuse(
                "notANumber", "\"\(text)\" is no whole number from \(range.lowerBound) to \(range.upperBound).",
                fix: "Write such a number.")
            return nil
        }
        return value
    }

    /// Per cent, with or without the sign.
    package func percent() -> Double? {
        guard let text = text() else { return nil }
        let digits = text.hasSuffix("%") ? Self.trimmed(text.dropLast()) : text
        guard let value = Double(digits), (0...100).contains(value) else {
            refuse("notAPercentage", "\"\(text)\" is no percentage from 0 to 100.", fix: "Write e.g. 40%.")
            return nil
        }
        return value
    }

    package func duration() -> Duration? {
        guard let text = text() else { return nil }
        guard let value = Amounts.duration(text) else {
            refuse(
                "notADuration", "\"\(text)\" is no length of time.",
                fix: "Write a number with ms, s, m, h or d, e.g. 90s or 1h30m.")
            return nil
        }
        return value
    }

    package func bytes() -> Int? {
        guard let text = text() else { return nil }
        guard let value = Amounts.bytes(text) else {
            refuse("notASize", "\"\(text)\" is no size.", fix: "Write bytes, or a number with KiB, MiB, GiB or TiB.")
            return nil
        }
        return value
    }

    /// One of some names.
    package func choice<Value>(_ choices: KeyValuePairs<String, Value>) -> Value? {
        guard let text = text() else { return nil }
        if let found = choices.first(where: { $0.key == text }) { return found.value }
        let names = choices.map(\.key)
        let meant = ClosestNames.closest(to: text, among: names)
        refuse(
            "unknownValue", "\"\(text)\" is not possible here.",
            fix: meant.first.map { "Did you mean \"\($0)\"?" } ?? "Use one of \(Self.list(names)).")
        return nil
    }

    /// A case of an enumeration, by its raw value.
    package func choice<Value: RawRepresentable & CaseIterable>(_: Value.Type) -> Value?
    where Value.RawValue == String {
        guard let text = text() else { return nil }
        if let value = Value(rawValue: text) { return value }
        let names = Value.allCases.map(\.rawValue)
        let meant = ClosestNames.closest(to: text, among: names)
        refuse(
            "unknownValue", "\"\(text)\" is not possible here.",
            fix: meant.first.map { "Did you mean \"\($0)\"?" } ?? "Use one of \(Self.list(names)).")
        return nil
    }

    static func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") }

    private static func trimmed(_ text: Substring) -> String {
        String(text.reversed().drop(while: \.isWhitespace).reversed())
    }

    private static func short(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
    }
}

/// The keys of a value, each at most once.
package struct DescribedFields {
    let values: [String: DescribedValue]
    /// The value that has them.
    package let owner: DescribedValue

    package subscript(_ key: String) -> DescribedValue? { values[key] }

    /// A key that has to be there.
    package func required(_ key: String, fix: String) -> DescribedValue? {
        if let value = values[key] { return value }
        let path = owner.field.isEmpty ? key : "\(owner.field).\(key)"
        owner.log.note("missingKey", field: path, line: owner.line, "\"\(key)\" is missing.", fix: fix)
        return nil
    }

    package var keys: [String] { values.keys.sorted() }

    /// All of them with their values, by name.
    package var named: [(key: String, value: DescribedValue)] {
        values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
