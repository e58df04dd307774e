import SchedulingCore
package import TaskModel
import Yams

/// The keys of a manifest, read from wherever they stand (rule 1).
package enum DescribedManifest {
    package static let keys = ["program", "modes", "identifiers", "grants", "entryPoints"]

    /// The manifest that a value describes; nil after noting what is wrong with it.
    package static func read(_ value: DescribedValue) -> ProgramManifest? {
        guard let fields = value.fields(keys) else { return nil }
        let program = fields.required("program", fix: "Add a reverse-DNS name such as org.example.photos.")
        let named = program?.text()
        let name = named ?? ""
        if let program, named != nil, !isSound(name) {
            program.refuse(
                "programName", "\"\(name)\" is no name of a program.",
                fix: "Write a reverse-DNS name such as org.example.photos.")
        }
        let modes = Set(
            (fields.required("modes", fix: "Add [refresh, processing, continued] or some of them.")?
                .items() ?? []).compactMap { $0.choice(TaskKind.self) })
        let listed = fields.required("identifiers", fix: "Add the identifiers that the program may use.")?.items() ?? []
        var permitted: [IdentifierPattern] = []
        for item in listed {
            guard let text = item.text() else { continue }
            let pattern = IdentifierPattern(text)
            if permitted.contains(pattern) {
                item.refuse("repeatedIdentifier", "\"\(text)\" is listed twice.", fix: "Remove one of them.")
            } else if isSound(name), let problem = pattern.shapeProblem(program: name, modes: modes) {
                item.refuse(
                    "identifierShape", problem,
                    fix: "Write \(name).NAME with letters, digits, \"-\" and \"_\" in NAME.")
            }
            permitted.append(pattern)
        }
        var grants: ComputeResources = []
        for item in fields["grants"]?.items() ?? [] {
            // Research requests are processing requests to the scheduler.
            grants.formUnion(item.choice(["gpu": .gpu, "healthResearch": []]) ?? [])
        }
        var entryPoints: [IdentifierPattern: [String]] = [:]
        for (key, command) in fields["entryPoints"]?.entries() ?? [] {
            guard let text = key.text(), let words = command.items()?.compactMap({ $0.text() }) else { continue }
            if !permitted.contains(IdentifierPattern(text)) {
                key.refuse(
                    "entryPointIdentifier",
                    "\"\(text)\" is not among the identifiers."
                        + ClosestNames.sentence(to: text, among: permitted.map(\.rawValue)),
                    fix: "Name an entry of identifiers exactly as it stands there.")
            }
            if words.isEmpty {
                command.refuse("emptyCommand", "The command is empty.", fix: "Write the program and its arguments.")
            }
            entryPoints[IdentifierPattern(text)] = words
        }
        return ProgramManifest(
            program: name, modes: modes, permitted: permitted, grants: grants, entryPoints: entryPoints)
    }

    /// Whether a manifest that was read without mistakes names a grant.
    package static func names(grant: String, in value: DescribedValue) -> Bool {
        value.node.mapping?["grants"]?.sequence?.contains { $0.scalar?.string == grant } ?? false
    }

    /// A manifest that was given in code, as if it had been read from a file without a name and without lines.
    package static func file(
        program: String, modes: [String], identifiers: [String], grants: [String]
    ) -> DescribedFile {
        func list(_ texts: [String]) -> Node { Node(texts.map { Node($0) }) }
        let root = Node([
            (Node("program"), Node(program)), (Node("modes"), list(modes)), (Node("identifiers"), list(identifiers)),
            (Node("grants"), list(grants)),
        ])
        let log = MistakeLog(file: "")
        return DescribedFile(root: DescribedValue(node: root, field: "", log: log), log: log)
    }

    private static func isSound(_ program: String) -> Bool {
        program.contains(".") && program.utf8.count <= 96
            && TaskIdentifier("x.\(program)").shapeProblem(program: "x") == nil
    }
}
