import ArgumentParser
import Glibc
import SystemText

/// Writes a file whole or not at all: under another name first, which its own name replaces at the end.
enum WholeFile {
    /// - Parameters:
    ///   - text: All of it.
    ///   - path: Where it goes.
    ///   - replacing: Whether a file that is there may go.
    /// - Throws: An exit status, after telling on standard error what is wrong; the file is as it was.
    static func write(_ text: String, to path: String, replacing: Bool) throws {
        let folder = SystemFile.parent(path)
        let temporary = "\(folder)/.bgrun-\(getpid())-drawing"
        unlink(temporary.systemBytes)
        let descriptor = open(temporary.systemBytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(path, errno, .cannotCreate) }
        var trouble = TextOutput.write(text, to: descriptor)
        if trouble == 0, fsync(descriptor) != 0 { trouble = errno }
        if close(descriptor) != 0, trouble == 0 { trouble = errno }
        guard trouble == 0 else {
            unlink(temporary.systemBytes)
            throw failure(path, trouble, .writeFailed)
        }
        // A link never replaces what is there, whoever made it meanwhile.
        let (from, to) = (temporary.systemBytes, path.systemBytes)
        let moved = replacing ? rename(from, to) : link(from, to)
        let reason = errno
        if !replacing || moved != 0 { unlink(temporary.systemBytes) }
        guard moved == 0 else { throw reason == EEXIST ? exists(path) : failure(path, reason, .cannotCreate) }
    }

    static func exists(_ path: String) -> ExitCode {
        Trouble.told("\(path) exists already.", fix: "Name another file, or add --force.", .cannotCreate)
    }

    private static func failure(_ path: String, _ reason: Int32, _ status: ExitStatus) -> ExitCode {
        Trouble.told(
            "\(path) cannot be written: \(String(cString: strerror(reason))).", fix: "Name another file.", status)
    }
}

extension StandardOutput {
    /// Writes bytes as they are.
    ///
    /// - Throws: As ``print(_:)``.
    static func print(bytes: [UInt8]) throws {
        let trouble = bytes.withUnsafeBufferPointer { TextOutput.write($0, to: STDOUT_FILENO) }
        try check(trouble)
    }

    /// Writes what was asked for.
    ///
    /// - Throws: An exit status, after telling on standard error what is wrong. Nobody reading is no failure.
    static func print(_ text: String) throws {
        try check(write(text))
    }

    private static func check(_ trouble: Int32) throws {
        guard trouble == 0 || trouble == EPIPE else {
            throw Trouble.told(
                "standard output cannot be written: \(String(cString: strerror(trouble))).", fix: "Make room for it.",
                .writeFailed)
        }
    }
}

/// The terminal that standard output goes to.
enum Terminal {
    /// Columns: as the terminal says, else as the environment says, else 100.
    static func width(_ environment: [String: String]) -> Int {
        var size = winsize()
        if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        if let columns = environment["COLUMNS"].flatMap(Int.init), columns > 0 { return min(columns, 1_000) }
        return 100
    }

    /// Whether the locale's characters are UTF-8.
    static func isUnicode(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let name = locale.uppercased()
        return name.contains("UTF-8") || name.contains("UTF8")
    }
}
