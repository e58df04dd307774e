/// What a program may ask of the scheduler: the counterpart of Apple's property-list keys and entitlements (rule 1).
package struct ProgramManifest: Hashable, Codable, Sendable {
    /// Reverse-DNS name; every identifier starts with it and a dot.
    package var program: String
    package var modes: Set<TaskKind>
    package var permitted: [IdentifierPattern]
    package var grants: ComputeResources
    /// The command that starts the program for an identifier, by pattern; empty for programs that are always there.
    package var entryPoints: [IdentifierPattern: [String]]

    package init(
        program: String, modes: Set<TaskKind>, permitted: [IdentifierPattern], grants: ComputeResources = [],
        entryPoints: [IdentifierPattern: [String]] = [:]
    ) {
        self.program = program
        self.modes = modes
        self.permitted = permitted
        self.grants = grants
        self.entryPoints = entryPoints
    }
}

/// The three kinds of work.
package enum TaskKind: String, Codable, Sendable, CaseIterable {
    /// Short, by and by.
    case refresh
    /// Long, when nobody is disturbed.
    case processing
    /// Started by a person, goes on in the background.
    case continued
}

/// An entry of the permitted list: an identifier, or a prefix followed by `.*` that stands for any suffix (rule 3).
package struct IdentifierPattern: Hashable, Codable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    package var description: String { rawValue }
    package var isWildcard: Bool { rawValue.hasSuffix(".*") }

    /// Whether the identifier is meant. The star stands for one or more characters, dots included.
    package func matches(_ identifier: TaskIdentifier) -> Bool {
        guard isWildcard else { return rawValue == identifier.rawValue }
        let prefix = rawValue.utf8.dropLast()
        let text = identifier.rawValue.utf8
        return text.count > prefix.count && text.starts(with: prefix)
    }

    /// What is wrong with the shape of this entry for a program, as one sentence; nil when it is well formed.
    package func shapeProblem(program: String, modes: Set<TaskKind>) -> String? {
        if isWildcard {
            guard modes.contains(.continued) else {
                return "\"\(rawValue)\" has a wildcard, which only continued work may have."
            }
            // The prefix alone must be a well-formed identifier, or the program itself.
            let prefix = String(rawValue.dropLast(2))
            return prefix == program ? nil : TaskIdentifier(prefix).shapeProblem(program: program)
        }
        if rawValue.contains("*") {
            return "\"\(rawValue)\" has a star elsewhere than in a last \".*\"."
        }
        return TaskIdentifier(rawValue).shapeProblem(program: program)
    }
}
