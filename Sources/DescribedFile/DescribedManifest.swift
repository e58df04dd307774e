package import TaskModel

/// A manifest read from wherever it stands in a described file (rule 1).
package struct DescribedManifest {
    package static let keys = ["program", "modes", "identifiers", "grants", "entryPoints"]

    package let program: ProgramManifest
    /// The grant that research requests need besides the mode `processing`.
    package let grantsHealthResearch: Bool

    /// Notes what is wrong in the value's log; what was read then is not to be used.
    ///
    /// - Returns: nil for a value that has no keys.
    package static func read(_ value: DescribedValue) -> DescribedManifest? {
        guard let fields = value.fields(keys) else { return nil }
        let check = ManifestCheck(log: value.log, prefix: value.field.isEmpty ? "" : value.field + ".")
        let missing = "Add it; a list may be empty as []."
        let name = fields.required("program", fix: missing).flatMap(entry).map(check.program) ?? ""
        let modes = check.modes(entries(fields.required("modes", fix: missing)))
        let permitted = check.identifiers(
            entries(fields.required("identifiers", fix: missing)), program: name, modes: modes)
        let grants = check.grants(entries(fields["grants"]))
        var entryPoints: [IdentifierPattern: [String]] = [:]
        for (key, command) in fields["entryPoints"]?.entries() ?? [] {
            guard let pattern = entry(key), command.items() != nil else { continue }
            let (known, words) = check.entryPoint(for: pattern, command: entries(command), permitted: permitted)
            entryPoints[known] = words
        }
        return DescribedManifest(
            program: ProgramManifest(
                program: name, modes: modes, permitted: permitted, grants: grants.resources, entryPoints: entryPoints),
            grantsHealthResearch: grants.healthResearch)
    }

    private static func entry(_ value: DescribedValue) -> ManifestCheck.Entry? {
        value.text().map { ManifestCheck.Entry($0, line: value.line) }
    }

    private static func entries(_ value: DescribedValue?) -> [ManifestCheck.Entry] {
        (value?.items() ?? []).compactMap(entry)
    }
}
