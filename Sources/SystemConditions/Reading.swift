/// One condition as it was read: its value and where it comes from, or why there is none.
package enum Reading<Value: Sendable>: Sendable {
    /// - source: A path below the system's root, or a name on its message bus.
    /// - note: What was measured, in words; empty when the value says it all.
    case known(Value, source: String, note: String = "")
    /// A few words that say what is missing.
    case unknown(String)

    package var value: Value? {
        guard case .known(let value, _, _) = self else { return nil }
        return value
    }

    package var source: String? {
        guard case .known(_, let source, _) = self else { return nil }
        return source
    }

    package var note: String {
        guard case .known(_, _, let note) = self else { return "" }
        return note
    }

    package var unknownBecause: String? {
        guard case .unknown(let reason) = self else { return nil }
        return reason
    }
}

extension Reading: Equatable where Value: Equatable {}
