import CChecksum
import Glibc
import OpenCLKit
import TemporaryFolders
import Testing

@Suite struct ProgramCacheTests {
    /// A cache that holds the test program, and the path of its one file.
    private func filled(_ folder: TemporaryFolder, _ context: Context) throws -> (cache: ProgramCache, file: String) {
        let cache = ProgramCache(folder: folder.path)
        let program = try cache.program(source: Fixture.source, options: "", in: context)
        #expect(!program.isFromBinary)
        #expect(cache.store(program))
        let names = TemporaryFolder.entries(of: "\(folder.path)/programs")
        try #require(names.count == 1, "one file, and no temporary one left: \(names)")
        return (cache, "\(folder.path)/programs/\(names[0])")
    }

    @Test func aStoredProgramIsLoadedAndComputesTheSame() throws {
        let folder = try TemporaryFolder()
        let context = try Fixture.context()
        let (cache, _) = try filled(folder, context)
        let program = try cache.program(source: Fixture.source, options: "", in: context)
        #expect(program.isFromBinary)
        #expect(try Fixture.rampIsRight(with: program))
        #expect(!cache.store(program), "what came from the cache is not written again")
    }

    @Test func otherSourceOrOptionsAreAnotherProgram() throws {
        let folder = try TemporaryFolder()
        let context = try Fixture.context()
        let (cache, _) = try filled(folder, context)
        #expect(try !cache.program(source: Fixture.source + "\n", options: "", in: context).isFromBinary)
        #expect(try !cache.program(source: Fixture.source, options: "-DX=1", in: context).isFromBinary)
    }

    @Test func withoutAFolderEveryProgramIsCompiled() throws {
        let context = try Fixture.context()
        let cache = ProgramCache(folder: nil)
        let program = try cache.program(source: Fixture.source, options: "", in: context)
        #expect(!program.isFromBinary)
        #expect(!cache.store(program))
    }

    @Test func aFolderThatCannotBeMadeOnlyCostsTheCache() throws {
        let folder = try TemporaryFolder()
        try TemporaryFolder.write([1], to: "\(folder.path)/plain-file")
        let cache = ProgramCache(folder: "\(folder.path)/plain-file")
        let program = try cache.program(source: Fixture.source, options: "", in: Fixture.context())
        #expect(!cache.store(program))
        #expect(try Fixture.rampIsRight(with: program))
    }

    enum Damage: CaseIterable {
        case empty, headerOnly, cutInTheMiddle, cutByOne, longerByOne
        case flippedMagic, flippedKey, flippedChecksum, flippedLength, flippedFirst, flippedLast

        func apply(_ file: [UInt8]) -> [UInt8] {
            var file = file
            switch self {
            case .empty: file = []
            case .headerOnly: file = Array(file.prefix(48))
            case .cutInTheMiddle: file = Array(file.prefix(file.count / 2))
            case .cutByOne: file.removeLast()
            case .longerByOne: file.append(0)
            case .flippedMagic: file[0] ^= 1
            case .flippedKey: file[8] ^= 1
            case .flippedChecksum: file[24] ^= 1
            case .flippedLength: file[40] ^= 1
            case .flippedFirst: file[48] ^= 1
            case .flippedLast: file[file.count - 1] ^= 0x80
            }
            return file
        }
    }

    @Test(arguments: Damage.allCases)
    func aDamagedFileNeverReachesTheDriverAndIsReplaced(damage: Damage) throws {
        let folder = try TemporaryFolder()
        let context = try Fixture.context()
        let (cache, file) = try filled(folder, context)
        try TemporaryFolder.write(damage.apply(TemporaryFolder.read(file)), to: file)
        let rebuilt = try cache.program(source: Fixture.source, options: "", in: context)
        #expect(!rebuilt.isFromBinary)
        #expect(access(file, F_OK) != 0, "the damaged file is gone")
        #expect(try Fixture.rampIsRight(with: rebuilt))
        #expect(cache.store(rebuilt))
        #expect(try cache.program(source: Fixture.source, options: "", in: context).isFromBinary)
    }

    @Test func aBinaryTheDriverRefusesIsDeletedAndCompiledAnew() throws {
        let folder = try TemporaryFolder()
        let context = try Fixture.context()
        let (cache, file) = try filled(folder, context)
        let foreign = Array("a binary of another driver, sound in itself".utf8)
        var digest = [UInt8](repeating: 0, count: 16)
        bg_xxh3_128(foreign, foreign.count, &digest)
        let header = Array(try TemporaryFolder.read(file).prefix(24))
        let length: [UInt8] = [UInt8(foreign.count), 0, 0, 0, 0, 0, 0, 0]
        try TemporaryFolder.write(header + digest + length + foreign, to: file)
        let rebuilt = try cache.program(source: Fixture.source, options: "", in: context)
        #expect(!rebuilt.isFromBinary)
        #expect(access(file, F_OK) != 0)
        #expect(TemporaryFolder.entries(of: "\(folder.path)/programs") == [], "no claim is left either")
    }

    @Test func aBinaryThatKilledAProcessIsNotTriedAgain() throws {
        let folder = try TemporaryFolder()
        let context = try Fixture.context()
        let (cache, file) = try filled(folder, context)
        try TemporaryFolder.write([], to: "\(file).loading-\(Int32.max)")
        #expect(try !cache.program(source: Fixture.source, options: "", in: context).isFromBinary)
        #expect(TemporaryFolder.entries(of: "\(folder.path)/programs") == [])
    }

    @Test func aBinaryThatALivingProcessIsLoadingIsUsed() throws {
        let folder = try TemporaryFolder()
        let context = try Fixture.context()
        let (cache, file) = try filled(folder, context)
        try TemporaryFolder.write([], to: "\(file).loading-\(getppid())")
        #expect(try cache.program(source: Fixture.source, options: "", in: context).isFromBinary)
    }

    @Test func theOldestFilesMakeRoomForNewOnes() throws {
        let folder = try TemporaryFolder()
        let context = try Fixture.context()
        let (cache, file) = try filled(folder, context)
        for index in 0..<ProgramCache.capacity {
            let old = "\(folder.path)/programs/old-\(index)"
            try TemporaryFolder.write([1], to: old)
            var times = [timeval(tv_sec: 1_000 + index, tv_usec: 0), timeval(tv_sec: 1_000 + index, tv_usec: 0)]
            try #require(utimes(old, &times) == 0)
        }
        #expect(cache.store(try cache.program(source: Fixture.source, options: "-DX=1", in: context)))
        let left = TemporaryFolder.entries(of: "\(folder.path)/programs")
        #expect(left.count == ProgramCache.capacity)
        #expect(!left.contains("old-0") && !left.contains("old-1") && left.contains("old-2"))
        #expect(access(file, F_OK) == 0)
    }

    @Test func aLinkInPlaceOfTheFileIsNotFollowed() throws {
        let folder = try TemporaryFolder()
        let context = try Fixture.context()
        let (cache, file) = try filled(folder, context)
        #expect(rename(file, "\(folder.path)/elsewhere") == 0)
        #expect(symlink("\(folder.path)/elsewhere", file) == 0)
        #expect(try !cache.program(source: Fixture.source, options: "", in: context).isFromBinary)
    }
}
