import Foundation
import Glibc
import ImageExport
import TemporaryFolders
import Testing

/// A file that stands whole or not at all, whatever call fails.
@Suite struct OutputFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("out"), withIntermediateDirectories: true)
    }

    private static let bytes = [UInt8](repeating: 7, count: 100_000)

    private func make(_ calls: FileCalls, mayReplace: Bool = false) throws {
        let root = try OutputFolder(path: folder.file("out"))
        let file = try OutputFile(path: folder.file("out/sub/picture"), in: root, calls: calls)
        try Self.bytes.withUnsafeBytes { try file.write($0) }
        try file.commit(mayReplace: mayReplace)
    }

    private var left: [String: Int] {
        let root = folder.file("out/sub")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return names.reduce(into: [:]) { sizes, name in
            sizes[name] = (try? Data(contentsOf: URL(fileURLWithPath: "\(root)/\(name)")))?.count
        }
    }

    @Test func flushingCanBeLeftToTheKernel() throws {
        let root = try OutputFolder(path: folder.file("out"))
        let calls = FileCalls.failing("flush", nameless: true)
        let file = try OutputFile(path: folder.file("out/sub/picture"), in: root, calls: calls)
        try Self.bytes.withUnsafeBytes { try file.write($0) }
        try file.commit(mayReplace: false, flushes: false)
        #expect(left == ["picture": Self.bytes.count])
    }

    @Test(arguments: [false, true], [false, true])
    func aFileAppearsWhole(nameless: Bool, replacing: Bool) throws {
        let calls = FileCalls.failing("", nameless: nameless)
        try make(calls)
        if replacing { try make(calls, mayReplace: true) }
        #expect(left == ["picture": Self.bytes.count])
        if !replacing {
            #expect(throws: ExportFailure.self) { try make(calls) }
            #expect(left == ["picture": Self.bytes.count])
        }
    }

    @Test func aFileSystemWithoutNamelessFilesAndLinksIsServedToo() throws {
        var calls = FileCalls.failing("", nameless: false)
        calls.name = { _, _, _ in -1 }
        try make(calls)
        #expect(left == ["picture": Self.bytes.count])
    }

    /// Every call, on both ways to make a file, over nothing and over a file that may be replaced.
    @Test(
        "rule 76: no failing call leaves a partial file, a temporary name, or harm to what stood there",
        arguments: [(ENOSPC, "diskFull"), (EDQUOT, "diskFull"), (EIO, "outputFailed"), (EROFS, "outputFailed")],
        ["open", "write", "second write", "flush", "name", "move"])
    func aFailingCallLeavesNothingHalf(reason: (number: Int32, code: String), call: String) throws {
        for nameless in [true, false] {
            for replacing in [true, false] {
                let root = folder.file("out/sub")
                try? FileManager.default.removeItem(atPath: root)
                try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
                if replacing { try Data("old".utf8).write(to: URL(fileURLWithPath: root + "/picture")) }
                let isUsed = call != "move" || replacing || !nameless
                let isNamed = call != "name" || nameless
                let calls = FileCalls.failing(call, reason.number, nameless: nameless)
                guard isUsed, isNamed else { continue }
                let failure = #expect(throws: ExportFailure.self) { try make(calls, mayReplace: replacing) }
                #expect(failure?.code == reason.code)
                #expect(failure?.reason.contains(String(cString: strerror(reason.number))) == true)
                #expect(left == (replacing ? ["picture": 3] : [:]), "\(call), nameless \(nameless)")
            }
        }
    }

    @Test func aShortWriteGoesOn() throws {
        var calls = FileCalls.system
        calls.write = { Glibc.write($0, $1.baseAddress, min($1.count, 4_097)) }
        try make(calls)
        #expect(left == ["picture": Self.bytes.count])
    }

    @Test func anInterruptedWriteGoesOn() throws {
        let count = Counter()
        var calls = FileCalls.system
        calls.write = { file, bytes in
            guard count.next().isMultiple(of: 2) else {
                errno = EINTR
                return -1
            }
            return Glibc.write(file, bytes.baseAddress, min(bytes.count, 9_000))
        }
        try make(calls)
        #expect(left == ["picture": Self.bytes.count])
    }
}

extension FileCalls {
    /// The system's calls, one of which fails; and, where nameless files are not wanted, as on a file system without.
    fileprivate static func failing(_ call: String, _ reason: Int32 = 0, nameless: Bool) -> FileCalls {
        let fail: @Sendable () -> Int32 = {
            errno = reason
            return -1
        }
        let count = Counter()
        var calls = FileCalls.system
        if !nameless {
            calls.openNameless = { _ in
                errno = EOPNOTSUPP
                return -1
            }
        }
        switch call {
        case "open":
            if nameless { calls.openNameless = { _ in fail() } }
            calls.create = { _, _ in fail() }
        case "write": calls.write = { _, _ in Int(fail()) }
        case "second write":
            calls.write = { file, bytes in
                count.next() == 1 ? Glibc.write(file, bytes.baseAddress, 1_000) : Int(fail())
            }
        case "flush": calls.flush = { _ in fail() }
        case "name": calls.name = { _, _, _ in fail() }
        case "move":
            calls.move = { _, _ in fail() }
            calls.replace = { _, _ in fail() }
        default: break
        }
        return calls
    }
}

/// Counts calls, which come from one thread at a time.
private final class Counter: @unchecked Sendable {
    private var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}
