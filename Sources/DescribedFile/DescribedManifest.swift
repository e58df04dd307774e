package import TaskModel

/// The keys of a manifest, read from wherever they stand (rule 1).
package enum DescribedManifest {
    package static let keys = ["program", "modes", "identifiers", "grants", "entryPoints"]

    /// The manifest that a value describes; nil after noting what is wrong with it.
    package static func read(_ value: DescribedValue) -> ProgramManifest? {
        guard let fields = value.fields(keys) else { return nil }
        let program = fields.required("program", fix: "Add a reverse-DNS name such as org.example.photos.")
        let name = program?.text() ?? ""
        if let program, !isSound(name) {
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
                    "entryPointIdentifier", "\"\(text)\" is not among the identifiers.",
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

    private static func isSound(_ program: String) -> Bool {
        program.contains(".") && program.utf8.count <= 96
            && TaskIdentifier("x.\(program)").shapeProblem(program: "x") == nil
    }
}
