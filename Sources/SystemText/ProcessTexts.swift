import Glibc

/// What this process was started with, byte for byte.
package enum ProcessTexts {
    /// Its command line, with the program's name.
    package static let arguments: [String] = (0..<Int(CommandLine.argc)).compactMap { place in
        CommandLine.unsafeArgv[place].map { String(system: UnsafePointer($0)) }
    }

    /// Its variables as they are now; of two of one name the first, which is the one that getenv(3) finds.
    package static var environment: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            entry += 1
            let variable = String(system: UnsafePointer(text))
            guard let cut = variable.utf8.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(variable[..<cut])
            if variables[name] == nil { variables[name] = String(variable[variable.utf8.index(after: cut)...]) }
        }
        return variables
    }

    /// The folder that relative paths begin at; nil where it was taken away.
    package static var folder: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(system: path)
    }

    /// Strings as a new process gets them: for `posix_spawn`.
    ///
    /// - Returns: Pointers to be freed, with nil at the end.
    package static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0.systemBytes) } + [nil]
    }
}
