import BGRunCommands
import Glibc
import SystemText
import TemporaryFolders
import Testing

/// What a plan keeps and does for each input, of a hundred thousand as of a thousand.
@Suite struct ManyInputsTests {
    /// So many names in folders of a hundred, of two files.
    private static func links(_ count: Int, in folder: String) throws {
        for file in 0..<2 {
            let made = open("\(folder).\(file)".systemBytes, O_WRONLY | O_CREAT, 0o600)
            try #require(made >= 0)
            close(made)
        }
        try #require(mkdir(folder, 0o700) == 0)
        for number in 0..<count {
            let part = "\(folder)/\(number / 100)"
            if number % 100 == 0 { try #require(mkdir(part, 0o700) == 0) }
            try #require(link("\(folder).\(number % 2)", "\(part)/picture-\(number).jpg") == 0)
        }
    }

    @Test(arguments: [1_000, 20_000]) func aListedFileTakesLittleBesideItsName(count: Int) throws {
        let folder = try TemporaryFolder()
        try Self.links(count, in: folder.file("in"))
        let scan = InputScan([folder.file("in")], excluding: "")
        #expect(scan.files.count == count)
        // Arrays grow to twice of what they hold.
        #expect(scan.files.byteCount <= 2 * count * (40 + 24) + count / 100 * 200 + 1024)
        let last = try #require(scan.files.last)
        #expect(last.name.hasPrefix("picture-"))
        #expect(last.path == folder.file("in") + "/" + last.folder + "/" + last.name)
    }

    @Test func filesThatAreMetAgainAreListedOnceAndKeepTheirPlaces() throws {
        let folder = try TemporaryFolder()
        try Self.links(300, in: folder.file("in"))
        let one = InputScan([folder.file("in")], excluding: "")
        // A file that is named has its output elsewhere than as one of a folder.
        let named = folder.file("in/0/picture-7.jpg")
        let twice = InputScan([folder.file("in"), folder.file("in/1"), named, named], excluding: "")
        #expect(twice.files.map(\.path) == one.files.map(\.path) + [named])
        let odd = one.files.keeping { $0 % 2 == 1 }
        #expect(Array(odd) == one.files.enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
    }

    @Test(arguments: [1_000, 100_000]) func lookingForWhatIsAlikeComparesHardlyAnyTwo(count: Int) {
        var table = PlaceTable()
        let names = (0..<count).map { "photos/\($0 / 1000)/picture-\($0).jpg" }
        for (place, name) in names.enumerated() {
            #expect(table.insert(place, hash: PlaceTable.hash(name)) { names[$0] == name } == nil)
        }
        #expect(table.count == count && table.comparisons <= count / 1000 + 10)
        for place in stride(from: 0, to: count, by: 97) {
            #expect(table.insert(count, hash: PlaceTable.hash(names[place])) { names[$0] == names[place] } == place)
        }
        #expect(table.place(hash: PlaceTable.hash("none")) { names[$0] == "none" } == nil)
        #expect(table.count == count)
    }
}
