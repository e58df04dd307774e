import Glibc
import SystemText
import TemporaryFolders
import Testing

@Suite struct SystemFileTests {
    @Test func filesOfAnyNameAreListedAndReadAsTheyAre() throws {
        let folder = try TemporaryFolder()
        let names = [[0x80], [0xC3, 0xA9], [UInt8(ascii: "a"), 0xFF]].map { String(system: $0) }
        for (number, name) in names.enumerated() {
            let file = open((folder.path + "/" + name).systemBytes, O_WRONLY | O_CREAT | O_EXCL, 0o600)
            #expect(write(file, [UInt8](repeating: UInt8(number), count: number), number) == number)
            close(file)
        }
        #expect(SystemFile.names(in: folder.path) == [names[2], names[0], names[1]], "in order of their bytes")
        for (number, name) in names.enumerated() {
            let path = folder.path + "/" + name
            #expect(SystemFile.contents(path) == [UInt8](repeating: UInt8(number), count: number))
            #expect(SystemFile.withMappedBytes(path) { Array($0) } == [UInt8](repeating: UInt8(number), count: number))
            #expect(SystemFile.exists(path) && SystemFile.name(path) == name && SystemFile.parent(path) == folder.path)
        }
        #expect(SystemFile.contents(folder.path + "/none") == nil && SystemFile.names(in: folder.path + "/none") == nil)
        #expect(!SystemFile.exists(folder.path + "/\u{FFFD}"))
    }

    @Test func aLinkIsReadAsItIs() throws {
        let folder = try TemporaryFolder()
        let target = String(system: [0xE4, UInt8(ascii: "b")])
        #expect(symlink(target.systemBytes, folder.path + "/link") == 0)
        #expect(SystemFile.target(ofLink: folder.path + "/link") == target)
        #expect(SystemFile.target(ofLink: folder.path) == nil)
    }

    @Test func aNameThatBeginsWithAMarkEndsAtItsSlash() {
        #expect(SystemFile.parent("/a/\u{301}b") == "/a" && SystemFile.name("/a/\u{301}b") == "\u{301}b")
        #expect(SystemFile.parent("/a") == "/" && SystemFile.parent("a") == "." && SystemFile.name("a") == "a")
    }
}
