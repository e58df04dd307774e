package import TaskModel

/// Which launch handlers a program has registered, and for what kind of task (rules 4 to 8 and 11).
package struct HandlerTable: Sendable {
    private let manifest: ProgramManifest
    private let startsEntryPoints: Bool
    /// The kind that a typed registration asked for; nil when any will do.
    private var handlers: [IdentifierPattern: TaskKind?] = [:]
    package private(set) var isActivated = false

    /// - Parameters:
    ///   - manifest: Of the program whose handlers these are.
    ///   - startsEntryPoints: The host starts the manifest's entry points, which then stand for handlers.
    package init(_ manifest: ProgramManifest, startsEntryPoints: Bool = false) {
        self.manifest = manifest
        self.startsEntryPoints = startsEntryPoints
    }

    /// Takes a registration, or says why not.
    ///
    /// - Parameters:
    ///   - pattern: An identifier, or a pattern for continued work.
    ///   - kind: The kind of task that the handler takes; nil for any.
    /// - Returns: What is wrong; nil when the handler is registered.
    package mutating func register(_ pattern: IdentifierPattern, for kind: TaskKind?) -> Diagnostic? {
        guard isPermitted(pattern) else {
            return Diagnostic(
                code: "identifierNotPermitted",
                sentence: "\"\(pattern)\" is not among the permitted identifiers of \(manifest.program)."
                    + ClosestNames.sentence(to: pattern.rawValue, among: manifest.permitted.map(\.rawValue)),
                fix: "Add it to the manifest's identifiers, or register one that is there.")
        }
        if isActivated && kind != .continued && !canBeContinued(pattern) {
            return Diagnostic(
                code: "registeredLate", sentence: "\"\(pattern)\" was registered after activate().",
                fix:
                    "Register refresh and processing handlers before activate(); a late one must be for continued work."
            )
        }
        guard handlers[pattern] == nil else {
            return Diagnostic(
                code: "registeredTwice", sentence: "\"\(pattern)\" has a launch handler already.",
                fix: "Register each identifier once.")
        }
        handlers.updateValue(kind, forKey: pattern)
        return nil
    }

    /// The program has registered what it wants to have at its start.
    ///
    /// - Returns: Permitted identifiers that nothing handles.
    package mutating func activate() -> [Diagnostic] {
        isActivated = true
        return manifest.permitted.filter { permitted in
            // Continued handlers may come when the work does.
            !permitted.isWildcard && handlers[permitted] == nil
                && handler(for: TaskIdentifier(permitted.rawValue)) == nil
                && !startsEntryPoint(TaskIdentifier(permitted.rawValue))
        }.map { permitted in
            Diagnostic(
                code: "handlerMissing", sentence: "\"\(permitted)\" is permitted, but has no launch handler.",
                fix: "Register a handler for it before activate(), or take it out of the manifest.")
        }
    }

    /// The registration that an identifier goes to: itself, else the longest pattern (rule 7).
    package func handler(for identifier: TaskIdentifier) -> IdentifierPattern? {
        let exact = IdentifierPattern(identifier.rawValue)
        if handlers.keys.contains(exact) { return exact }
        return handlers.keys.filter { $0.isWildcard && $0.matches(identifier) }
            .max { $0.rawValue.utf8.count < $1.rawValue.utf8.count }
    }

    /// Whether the host starts a process for it, so that it needs no handler.
    package func startsEntryPoint(_ identifier: TaskIdentifier) -> Bool {
        startsEntryPoints && hasEntryPoint(identifier)
    }

    package func hasEntryPoint(_ identifier: TaskIdentifier) -> Bool {
        manifest.entryPoints.keys.contains { $0.matches(identifier) }
    }

    /// The kind that the handler asks for; nil for any.
    package func kind(of handler: IdentifierPattern) -> TaskKind? {
        handlers[handler] ?? nil
    }

    private func isPermitted(_ pattern: IdentifierPattern) -> Bool {
        if manifest.permitted.contains(pattern) { return true }
        // A concrete identifier, or a longer pattern, below a permitted pattern.
        return manifest.permitted.contains { $0.isWildcard && $0.matches(TaskIdentifier(pattern.rawValue)) }
    }

    /// A handler of any kind counts as one for continued work when only a wildcard permits it, or only that mode is on.
    private func canBeContinued(_ pattern: IdentifierPattern) -> Bool {
        manifest.modes == [.continued] || !manifest.permitted.contains(pattern) || pattern.isWildcard
    }
}

/// Names that a mistyped one may have meant.
package enum ClosestNames {
    /// " Closest: ..." with up to three names, nearest first; empty when nothing is near.
    package static func sentence(to name: String, among names: [String]) -> String {
        let near = closest(to: name, among: names)
        return near.isEmpty ? "" : " Closest: " + near.map { "\"\($0)\"" }.joined(separator: ", ") + "."
    }

    /// Up to three names within half the length of the given one, nearest first.
    package static func closest(to name: String, among names: [String]) -> [String] {
        names.map { (name: $0, distance: distance(name, $0)) }
            .filter { $0.distance * 2 <= max(name.count, $0.name.count) }
            .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
            .prefix(3).map(\.name)
    }

    /// Levenshtein's edit distance in bytes.
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (index, byte) in left.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let above = row[column + 1]
                row[column + 1] = min(above + 1, row[column] + 1, diagonal + (byte == right[column] ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}
