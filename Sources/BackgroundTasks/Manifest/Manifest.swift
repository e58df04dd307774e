import DescribedFile
package import TaskModel

/// What a program is allowed, as its manifest or its code says.
package struct Manifest: Hashable, Sendable {
    package var program: ProgramManifest
    /// The grant that research requests need besides the mode `processing`.
    package var grantsHealthResearch: Bool

    package init(program: ProgramManifest, grantsHealthResearch: Bool = false) {
        self.program = program
        self.grantsHealthResearch = grantsHealthResearch
    }
}

extension Manifest {
    /// - Parameters:
    ///   - program: Reverse-DNS name that every identifier starts with.
    ///   - modes: Kinds of work that it asks for.
    ///   - permittedIdentifiers: Identifiers, and for continued work prefixes with `.*` at their end.
    ///   - grants: What it may use beyond that.
    /// - Throws: ``ManifestError`` with every mistake.
    package init(
        program: String, modes: Set<BGTaskScheduler.Mode>, permittedIdentifiers: [String],
        grants: BGTaskScheduler.Grants = []
    ) throws(ManifestError) {
        do {
            let described = DescribedManifest.file(
                program: program, modes: modes.map(\.rawValue).sorted(), identifiers: permittedIdentifiers,
                grants: [
                    grants.contains(.gpu) ? "gpu" : nil, grants.contains(.healthResearch) ? "healthResearch" : nil,
                ]
                .compactMap(\.self))
            self = try ManifestFile.manifest(described)
        } catch {
            throw ManifestError(error)
        }
    }
}
