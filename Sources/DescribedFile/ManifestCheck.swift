import SchedulingCore
package import TaskModel

/// Checks what a manifest says, wherever it was said, and notes every mistake (rule 1).
package struct ManifestCheck {
    /// A text and where it stands.
    package struct Entry {
        var text: String
        var line: Int?

        package init(_ text: String, line: Int? = nil) {
            self.text = text
            self.line = line
        }
    }

    /// The longest name of a program in bytes: room is left for what its identifiers add.
    static let maxProgramBytes = 96
    /// Values of `grants`.
    static let grantNames = ["gpu", "healthResearch"]

    let log: MistakeLog
    /// What stands before the names of fields, for a manifest within something else.
    let prefix: String

    package init(log: MistakeLog, prefix: String = "") {
        self.log = log
        self.prefix = prefix
    }

    func note(_ code: String, field: String, line: Int?, _ sentence: String, fix: String) {
        log.note(code, field: prefix + field, line: line, sentence, fix: fix)
    }

    package func program(_ entry: Entry) -> String {
        if let problem = Self.programProblem(entry.text) {
            note(
                "programName", field: "program", line: entry.line, problem,
                fix: "Write a reverse-DNS name such as \"org.example.photos\".")
        }
        return entry.text
    }

    package func modes(_ entries: [Entry]) -> Set<TaskKind> {
        var modes: Set<TaskKind> = []
        let names = TaskKind.allCases.map(\.rawValue)
        for (index, entry) in entries.enumerated() {
            let field = "modes[\(index)]"
            guard let mode = TaskKind(rawValue: entry.text) else {
                // Apple's name for this mode.
                let meant = entry.text == "fetch" ? ["refresh"] : ClosestNames.closest(to: entry.text, among: names)
                note(
                    "unknownMode", field: field, line: entry.line, "\"\(entry.text)\" is no mode.",
                    fix: meant.first.map { "Did you mean \"\($0)\"?" } ?? "Use \(Self.list(names)).")
                continue
            }
            if !modes.insert(mode).inserted {
                note(
                    "repeatedMode", field: field, line: entry.line, "\"\(entry.text)\" is listed twice.",
                    fix: "Remove one of them.")
            }
        }
        return modes
    }

    package func identifiers(_ entries: [Entry], program: String, modes: Set<TaskKind>) -> [IdentifierPattern] {
        var seen: Set<String> = []
        for (index, entry) in entries.enumerated() {
            let field = "identifiers[\(index)]"
            let pattern = IdentifierPattern(entry.text)
            if !seen.insert(entry.text).inserted {
                note(
                    "repeatedIdentifier", field: field, line: entry.line, "\"\(entry.text)\" is listed twice.",
                    fix: "Remove one of them.")
            } else if Self.programProblem(program) == nil,
                let problem = pattern.shapeProblem(program: program, modes: modes)
            {
                note(
                    "identifierShape", field: field, line: entry.line, problem,
                    fix: pattern.isWildcard && !modes.contains(.continued)
                        ? "Add \"continued\" to modes, or name each identifier in full."
                        : "Write \"\(program).NAME\" with letters, digits, \"-\" and \"_\" in NAME.")
            }
        }
        return entries.map { IdentifierPattern($0.text) }
    }

    func grants(_ entries: [Entry]) -> (resources: ComputeResources, healthResearch: Bool) {
        var resources: ComputeResources = []
        var healthResearch = false
        for (index, entry) in entries.enumerated() {
            switch entry.text {
            case "gpu": resources.insert(.gpu)
            case "healthResearch": healthResearch = true
            default:
                let meant = ClosestNames.closest(to: entry.text, among: Self.grantNames)
                note(
                    "unknownGrant", field: "grants[\(index)]", line: entry.line, "\"\(entry.text)\" is no grant.",
                    fix: meant.first.map { "Did you mean \"\($0)\"?" } ?? "Use \(Self.list(Self.grantNames)).")
            }
        }
        return (resources, healthResearch)
    }

    func entryPoint(
        for pattern: Entry, command: [Entry], permitted: [IdentifierPattern]
    ) -> (IdentifierPattern, [String]) {
        let field = "entryPoints.\(pattern.text)"
        if !permitted.contains(IdentifierPattern(pattern.text)) {
            note(
                "entryPointIdentifier", field: field, line: pattern.line,
                "\"\(pattern.text)\" is not among the identifiers."
                    + ClosestNames.sentence(to: pattern.text, among: permitted.map(\.rawValue)),
                fix: "Name an entry of identifiers exactly as it stands there.")
        }
        if command.first?.text.isEmpty ?? true {
            note(
                "emptyCommand", field: field, line: pattern.line, "The command is empty.",
                fix: "Write the program and its arguments as a list, e.g. [\"/usr/bin/photos\", \"--refresh\"].")
        }
        return (IdentifierPattern(pattern.text), command.map(\.text))
    }

    static func list(_ names: [String]) -> String {
        names.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    private static func programProblem(_ program: String) -> String? {
        if program.isEmpty { return "The name of the program is empty." }
        if program.utf8.count > maxProgramBytes {
            return "The name of the program is longer than \(maxProgramBytes) bytes."
        }
        guard let first = program.split(separator: ".", omittingEmptySubsequences: false).first,
            first.count < program.count
        else {
            return "\"\(program)\" is no reverse-DNS name: it has no dot."
        }
        // What an identifier may have after its program, a program may have after its first part.
        let isSound = !first.isEmpty && TaskIdentifier("x.\(program)").shapeProblem(program: "x") == nil
        return isSound
            ? nil : "\"\(program)\" has an empty part or characters other than letters, digits, \"-\", \"_\" and \".\"."
    }
}
