import CProcess
import Foundation
import Glibc
import ImageExport
import Synchronization
import TemporaryFolders
import Testing

/// Nothing is written outside the folder that was chosen, whatever is put in the way. Each with the kernel's own lookup
/// and with the walk of kernels that lack it.
@Suite struct OutputFolderTests {
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
        for name in ["out", "elsewhere"] {
            try FileManager.default.createDirectory(atPath: place.file(name), withIntermediateDirectories: true)
        }
    }

    private func open(_ followsLinks: Bool) throws -> OutputFolder {
        try OutputFolder(path: place.file("out"), followsLinks: followsLinks)
    }

    private func write(_ path: String, in folder: OutputFolder) throws(ExportFailure) {
        let file = try OutputFile(path: path, in: folder)
        try file.commit(mayReplace: false)
    }

    private func isEmpty(_ name: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: place.file(name)).isEmpty
    }

    @Test(arguments: [true, false], ["../x", "a/../../x", "/etc/x", "a//b", "./x", "a/.", "", "a/"])
    func aPathThatIsNotPlainlyBelowIsRefused(followsLinks: Bool, name: String) throws {
        let folder = try open(followsLinks)
        let path = name.hasPrefix("/") ? name : place.file("out/") + name
        let failure = #expect(throws: ExportFailure.self) { try write(path, in: folder) }
        #expect(failure?.code == "outputRefused" && failure?.reason.hasPrefix(path) == true)
        #expect(try isEmpty("out"))
    }

    @Test(arguments: [true, false])
    func foldersAreMadeLevelByLevel(followsLinks: Bool) throws {
        let folder = try open(followsLinks)
        try write(place.file("out/a/b/c/x"), in: folder)
        try write(place.file("out/a/b/y"), in: folder)
        #expect(FileManager.default.fileExists(atPath: place.file("out/a/b/c/x")))
        #expect(FileManager.default.fileExists(atPath: place.file("out/a/b/y")))
    }

    @Test(
        arguments: [true, false], ["../elsewhere", "ABSOLUTE/elsewhere", "..", "/", "/proc/self/cwd", "link"])
    func aLinkThatLeadsOutIsRefusedByItsName(followsLinks: Bool, target: String) throws {
        let folder = try open(followsLinks)
        symlink(target.replacingOccurrences(of: "ABSOLUTE", with: place.path), place.file("out/link"))
        for name in ["link/x", "link/sub/x"] {
            let failure = #expect(throws: ExportFailure.self) { try write(place.file("out/" + name), in: folder) }
            #expect(failure?.code == "outputRefused")
            #expect(failure?.reason.hasPrefix("\(place.file("out/link")) is a link that leads out") == true)
        }
        #expect(folder.violation(inPath: place.file("out/link/sub")) == place.file("out/link"))
        #expect(folder.violation(inPath: place.file("out/plain/sub")) == nil)
        #expect(try isEmpty("elsewhere"))
    }

    @Test(arguments: [true, false])
    func aRelativeLinkThatStaysInsideIsFollowedWhereTheKernelCan(followsLinks: Bool) throws {
        let folder = try open(followsLinks)
        try FileManager.default.createDirectory(
            atPath: place.file("out/archive/2024"), withIntermediateDirectories: true)
        symlink("archive/2024", place.file("out/2024"))
        let outcome = Result { try write(place.file("out/2024/new/x"), in: folder) }
        #expect((try? outcome.get()) != nil || !followsLinks)
        #expect(FileManager.default.fileExists(atPath: place.file("out/archive/2024/new/x")) == followsLinks)
    }

    @Test(arguments: [true, false])
    func aLinkWithAnAbsolutePathIsRefusedEvenWhereItLeadsBack(followsLinks: Bool) throws {
        let folder = try open(followsLinks)
        try FileManager.default.createDirectory(atPath: place.file("out/a"), withIntermediateDirectories: true)
        symlink(place.file("out/a"), place.file("out/link"))
        let failure = #expect(throws: ExportFailure.self) { try write(place.file("out/link/x"), in: folder) }
        #expect(failure?.reason.contains("only relative links that stay inside are followed") == true)
        #expect(try isEmpty("out/a"))
    }

    @Test(arguments: [true, false])
    func aFolderThatBecomesALinkUnderWayTakesNothingOutside(followsLinks: Bool) throws {
        let folder = try open(followsLinks)
        try write(place.file("out/sub/one"), in: folder)
        let file = try OutputFile(path: place.file("out/sub/two"), in: folder)
        #expect(rename(place.file("out/sub"), place.file("out/moved")) == 0)
        symlink(place.file("elsewhere"), place.file("out/sub"))
        // A file under way goes where its folder went.
        try file.commit(mayReplace: false)
        #expect(FileManager.default.fileExists(atPath: place.file("out/moved/two")))
        #expect(throws: ExportFailure.self) { try write(place.file("out/sub/three"), in: folder) }
        #expect(try isEmpty("elsewhere"))
    }

    @Test func aChosenFolderThatBecameALinkBeforeTheStartIsRefused() throws {
        #expect(rename(place.file("out"), place.file("away")) == 0)
        symlink(place.file("elsewhere"), place.file("out"))
        let failure = #expect(throws: ExportFailure.self) { _ = try OutputFolder(path: place.file("out")) }
        #expect(
            failure?.reason
                == "cannot open the output folder \(place.file("out")): \(place.file("out")) was replaced by a link")
    }

    @Test func theChosenFolderIsMadeWithoutFollowingALinkThatCameMeanwhile() throws {
        symlink(place.file("elsewhere"), place.file("link"))
        let failure = #expect(throws: ExportFailure.self) { _ = try OutputFolder(path: place.file("link/new/out")) }
        #expect(failure?.code == "outputRefused")
        #expect(failure?.reason.hasSuffix("\(place.file("link")) was replaced by a link") == true)
        #expect(try isEmpty("elsewhere"))
        _ = try OutputFolder(path: place.file("new/out"))
        #expect(try isEmpty("new/out"))
    }

    @Test(arguments: ["moved", "removed", "replaced by a folder", "replaced by a link"])
    func aChosenFolderThatIsNotThereAnyMoreTakesNothing(what: String) throws {
        let folder = try open(true)
        #expect(what == "removed" ? rmdir(place.file("out")) == 0 : rename(place.file("out"), place.file("away")) == 0)
        if what == "replaced by a folder" { mkdir(place.file("out"), 0o777) }
        if what == "replaced by a link" { symlink(place.file("elsewhere"), place.file("out")) }
        let failure = #expect(throws: ExportFailure.self) { try write(place.file("out/x"), in: folder) }
        #expect(failure?.code == "outputFailed")
        #expect(
            failure?.reason == "the output folder \(place.file("out")) was moved, removed or unmounted")
        #expect(try isEmpty("elsewhere"))
        if what != "removed" { #expect(try isEmpty("away")) }
    }

    @Test(.enabled(if: geteuid() != 0, "SKIPPED: the superuser may write everywhere"))
    func aFolderThatMayNotBeWrittenIsNamed() throws {
        let folder = try open(true)
        chmod(place.file("out"), 0o555)
        defer { chmod(place.file("out"), 0o755) }
        let failure = #expect(throws: ExportFailure.self) { try write(place.file("out/sub/x"), in: folder) }
        #expect(failure?.code == "outputRefused")
        #expect(failure?.reason == "cannot create \(place.file("out/sub")): Permission denied")
    }

    @Test(arguments: [true, false])
    func aFileWhereAFolderShouldBeIsRefused(followsLinks: Bool) throws {
        let folder = try open(followsLinks)
        try write(place.file("out/a"), in: folder)
        let failure = #expect(throws: ExportFailure.self) { try write(place.file("out/a/b/x"), in: folder) }
        #expect(failure?.code == "outputRefused")
        #expect(failure?.reason.contains("Not a directory") == true)
    }

    /// Somebody exchanges the folder and a link to another for as long as this test writes.
    @Test(arguments: [true, false])
    func aLinkThatComesAndGoesNeverCatchesAnOutput(followsLinks: Bool) throws {
        let folder = try open(followsLinks)
        try FileManager.default.createDirectory(atPath: place.file("out/a"), withIntermediateDirectories: true)
        symlink("../elsewhere", place.file("out/b"))
        let swapping = Swapping(place.file("out/a"), place.file("out/b"))
        var outcomes: [String: Int] = [:]
        for number in 0..<5_000 {
            do throws(ExportFailure) {
                try write(place.file("out/a/\(number)"), in: folder)
                outcomes["written", default: 0] += 1
            } catch {
                outcomes[error.code, default: 0] += 1
            }
        }
        let swaps = swapping.end()
        #expect(try isEmpty("elsewhere"))
        #expect(swaps > 0 && outcomes["written", default: 0] > 0, "\(swaps) swaps, \(outcomes)")
        #expect(Set(outcomes.keys).isSubset(of: ["written", "outputRefused"]), "\(outcomes)")
    }
}

/// Exchanges two names over and over, on a thread of its own.
private final class Swapping: Sendable {
    private let stops = Atomic<Bool>(false)
    private let swaps = Atomic<Int>(0)
    private let done = DispatchSemaphore(value: 0)

    init(_ one: String, _ other: String) {
        let thread = Thread { [self] in
            while !stops.load(ordering: .acquiring),
                bg_rename(AT_FDCWD, one, AT_FDCWD, other, UInt32(BG_RENAME_EXCHANGE)) == 0
            {
                swaps.add(1, ordering: .relaxed)
            }
            done.signal()
        }
        thread.start()
    }

    /// Stops, and tells how often.
    func end() -> Int {
        stops.store(true, ordering: .releasing)
        done.wait()
        return swaps.load(ordering: .acquiring)
    }
}
