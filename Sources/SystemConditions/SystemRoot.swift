import Foundation
import Glibc

/// The file system that conditions are read from: `/`, or a folder that looks like it (rule 41).
///
/// Its files may vanish at any moment and hold anything.
package struct SystemRoot: Hashable, Sendable {
    /// What is put before absolute paths; empty for the machine itself.
    private let prefix: String

    package init(_ path: String = "/") {
        var path = path[...]
        while path.hasSuffix("/") { path.removeLast() }
        prefix = String(path)
    }

    package var isMachine: Bool { prefix.isEmpty }

    /// Where an absolute path of the system lies.
    package func path(_ path: String) -> String { prefix + path }

    /// Why a file gave no text.
    struct Trouble: Error {
        var path: String
        var reason: Int32

        var words: String {
            switch reason {
            case ENOENT: "\(path) does not exist"
            default: "\(path) cannot be read (\(String(cString: strerror(reason))))"
            }
        }

        var isMissing: Bool { reason == ENOENT || reason == ENOTDIR }
    }

    /// The first 1 MiB of a file; bytes that are no UTF-8 are replaced.
    func text(_ path: String) throws(Trouble) -> String {
        // O_NONBLOCK: a pipe in a file's place must not hold up the reader.
        let descriptor = open(self.path(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Trouble(path: path, reason: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var reason: Int32 = 0
        // Most of these files are a line long.
        var room = 512
        while bytes.count < 1 << 20 {
            let piece = [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
                var count = -1
                repeat { count = read(descriptor, buffer.baseAddress, room) } while count < 0 && errno == EINTR
                if count < 0 { reason = errno }
                filled = max(0, count)
            }
            guard reason == 0 else { throw Trouble(path: path, reason: reason) }
            if piece.isEmpty { break }
            bytes += piece
            room = 1 << 16
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The words of a file of one line, without space around them.
    func line(_ path: String) throws(Trouble) -> String {
        var text = try text(path)[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while let last = text.last, last.isWhitespace || last == "\0" { text.removeLast() }
        return String(text)
    }

    /// A whole number; nil when there is none, or something else.
    func integer(_ path: String) -> Int? {
        guard let line = try? line(path) else { return nil }
        return Int(line)
    }

    /// Names in a folder, sorted.
    func names(in path: String) throws(Trouble) -> [String] {
        guard let folder = opendir(self.path(path)) else { throw Trouble(path: path, reason: errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func exists(_ path: String) -> Bool { access(self.path(path), F_OK) == 0 }
}

/// Numbers in text that somebody else wrote.
enum Numeral {
    /// A finite number between 0 and 100.
    static func percent(_ text: some StringProtocol) -> Double? {
        // Only what the kernel prints: Double alone would also take `nan`, `inf` and `0x1p3`.
        guard !text.isEmpty, text.utf8.count <= 16, text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }),
            let value = Double(String(text)), value <= 100
        else { return nil }
        return value
    }

    /// A sum, or nil where it does not fit.
    static func sum(_ left: Int, _ right: Int) -> Int? {
        let (value, overflow) = left.addingReportingOverflow(right)
        return overflow ? nil : value
    }

    /// A product, or nil where it does not fit.
    static func product(_ left: Int, _ right: Int) -> Int? {
        let (value, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? nil : value
    }
}
