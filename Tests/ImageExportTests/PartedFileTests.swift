import Foundation
import Glibc
import ImageExport
import TemporaryFolders
import Testing

/// A file that several write, each its parts.
@Suite struct PartedFileTests {
    private let folder: TemporaryFolder
    private let root: OutputFolder

    init() throws {
        folder = try TemporaryFolder()
        root = try OutputFolder(path: folder.file("out"))
    }

    private var parts: String { folder.file("out/parts/rows") }
    private var final: String { folder.file("out/final") }

    private func content(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map(Array.init) }

    private func write(_ byte: UInt8, _ count: Int, at offset: Int, _ calls: FileCalls = .system) throws {
        let file = try PartedFile(path: parts, in: root, calls: calls)
        try [UInt8](repeating: byte, count: count).withUnsafeBytes { try file.write($0, at: offset) }
    }

    @Test func partsStandInTheirPlacesUnderTheFinalName() throws {
        try write(2, 3, at: 5)
        try write(1, 5, at: 0)
        try write(9, 4, at: 12)
        let file = try PartedFile(path: parts, in: root)
        try file.end(at: 10)
        #expect(!FileManager.default.fileExists(atPath: final))
        try file.commit(as: final, in: root, mayReplace: false)
        #expect(content(final) == [1, 1, 1, 1, 1, 2, 2, 2, 0, 0])
        #expect(!FileManager.default.fileExists(atPath: parts))
    }

    @Test func anotherFileGivesWayWhereItMay() throws {
        try Data("mine".utf8).write(to: URL(filePath: final))
        try write(1, 2, at: 0)
        let file = try PartedFile(path: parts, in: root)
        let error = #expect(throws: ExportFailure.self) { try file.commit(as: final, in: root, mayReplace: false) }
        #expect(error?.code == "outputExists")
        #expect(content(final) == Array("mine".utf8) && content(parts) == [1, 1])
        try file.commit(as: final, in: root, mayReplace: true)
        #expect(content(final) == [1, 1])
    }

    @Test func aLinkStandsInWhereNoRenameSparesOtherFiles() throws {
        var calls = FileCalls.system
        calls.move = { linkat($0.folder, $0.name, $1.folder, $1.name, 0) }
        try write(1, 2, at: 0)
        try PartedFile(path: parts, in: root, calls: calls).commit(as: final, in: root, mayReplace: false)
        #expect(content(final) == [1, 1] && content(parts) == nil)
    }

    @Test func whatIsNotWrittenAtOnceIsWrittenByAndBy() throws {
        var calls = FileCalls.system
        calls.writeAt = { pwrite($0, $1.baseAddress, min($1.count, 7), off_t($2)) }
        try write(3, 50, at: 4, calls)
        #expect(content(parts) == [0, 0, 0, 0] + [UInt8](repeating: 3, count: 50))
    }

    @Test(arguments: ["write", "flush", "move"]) func aCallThatFailsLeavesThePartsAndNothingElse(call: String) throws {
        try write(1, 2, at: 0)
        var calls = FileCalls.system
        let fail: @Sendable () -> Int32 = {
            errno = ENOSPC
            return -1
        }
        switch call {
        case "write": calls.writeAt = { _, _, _ in Int(fail()) }
        case "flush": calls.flush = { _ in fail() }
        default: calls.move = { _, _ in fail() }
        }
        let error = #expect(throws: ExportFailure.self) {
            try write(2, 1, at: 1, calls)
            try PartedFile(path: parts, in: root, calls: calls).commit(as: final, in: root, mayReplace: false)
        }
        #expect(error?.code == "diskFull")
        #expect(content(parts) == (call == "write" ? [1, 1] : [1, 2]) && content(final) == nil)
    }

    @Test func nothingIsWrittenThroughOtherNames() throws {
        try write(1, 2, at: 0)
        let other = folder.file("other")
        try Data("mine".utf8).write(to: URL(filePath: other))
        for take in [link, symlink] {
            unlink(parts)
            #expect(take(other, parts) == 0)
            let error = #expect(throws: ExportFailure.self) { try write(2, 2, at: 0) }
            #expect(error?.code == "outputRefused")
        }
        unlink(parts)
        mkfifo(parts, 0o600)
        #expect(throws: ExportFailure.self) { try write(2, 2, at: 0) }
        #expect(content(other) == Array("mine".utf8))
    }
}
