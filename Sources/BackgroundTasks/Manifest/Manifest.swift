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
        let log = MistakeLog(file: "")
        let check = ManifestCheck(log: log)
        let program = check.program(.init(program))
        let kinds = check.modes(modes.map { .init($0.rawValue) })
        let permitted = check.identifiers(permittedIdentifiers.map { .init($0) }, program: program, modes: kinds)
        do throws(FileMistakes) {
            try log.check()
        } catch {
            throw ManifestError(error.mistakes, file: nil)
        }
        self.init(
            program: ProgramManifest(
                program: program, modes: kinds, permitted: permitted, grants: grants.contains(.gpu) ? .gpu : []),
            grantsHealthResearch: grants.contains(.healthResearch))
    }
}
