/// A JSON value whose strings are told apart by their code points. Dictionaries keyed by `String` would not do: two tokens
/// of a vocabulary may be canonically equivalent, and are two tokens nevertheless.
enum JSONValue {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([Member])

    struct Member {
        var key: String
        var value: JSONValue
    }

    /// The last value under that key; nil for other kinds.
    subscript(_ key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }

    var isNull: Bool { if case .null = self { true } else { false } }
    var string: String? { if case .text(let text) = self { text } else { nil } }
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    var list: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    var members: [Member]? { if case .object(let members) = self { members } else { nil } }

    /// Of a number without a fraction.
    var integer: Int? {
        guard case .number(let value) = self else { return nil }
        return Int(exactly: value)
    }
}
