import Confinement

/// Takes from a command that decodes in its own process what it does not need, as workers have it taken.
enum SheetConfinement {
    /// Called before the first picture is opened; fonts and the like are read before.
    ///
    /// - Parameters:
    ///   - files: What may still be read.
    ///   - output: Where pages may be made.
    /// - Throws: What went wrong.
    static func begin(reading files: [String], writing output: SheetOutput) throws(SheetRefusal) {
        let folder = OutputTrouble.nearestFolder(OutputFolderGuard.parent(output.path))
        do throws(ConfinementFailure) {
            try Confinement.confine(
                to: DriverPlaces.libraries + files.map { Grant($0, .read) } + [Grant(folder, .produce)],
                mayExecute: false)
        } catch {
            throw SheetRefusal("confinement", .bug, "\(error)", fix: "Nothing was made.")
        }
    }
}
