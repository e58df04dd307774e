import SystemText

/// Folders in which bgrun keeps files of its own: the journal, the service's socket, settings, caches.
///
/// SQLite and sockets are named by texts there, so these folders have names that are UTF-8. Inputs, outputs, models and
/// reports may have any.
enum OwnFolders {
    private static let variables = ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"]

    /// - Throws: An exit status, after telling on standard error which variable names such a folder.
    static func check(_ environment: [String: String]) throws {
        for name in variables + ["XDG_RUNTIME_DIR"] where environment[name]?.holdsForeignBytes == true {
            throw refusal(name, environment[name] ?? "", fix: "Set it to a folder whose name is.")
        }
        // Each of the others is below it unless it says otherwise.
        guard let home = environment["HOME"], home.holdsForeignBytes,
            let unset = variables.first(where: { environment[$0]?.utf8.first != UInt8(ascii: "/") })
        else { return }
        throw refusal("HOME", home, fix: "Set \(unset) to a folder whose name is.")
    }

    private static func refusal(_ name: String, _ folder: String, fix: String) -> any Error {
        Trouble.told(
            "\(name) is \(folder), which is not UTF-8; bgrun keeps its own files only in folders whose names are.",
            fix: fix, .configuration)
    }
}
