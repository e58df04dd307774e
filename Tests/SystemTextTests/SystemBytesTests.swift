import Glibc
import SeededNumbers
import SystemText
import Testing

@Suite struct SystemBytesTests {
    /// Bytes of all kinds beside each other: letters, well-formed characters, pieces of them, and the characters that stand
    /// for bytes.
    private static func name(_ random: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 1...12, using: &random)).flatMap { _ -> [UInt8] in
            switch Int.random(in: 0..<6, using: &random) {
            case 0: [UInt8.random(in: 1...255, using: &random)]
            case 1: Array("aé€😀".randomElement(using: &random).map(String.init)?.utf8 ?? "".utf8)
            case 2: Array(Array("😀€".utf8).prefix(Int.random(in: 1...6, using: &random)))
            case 3:
                Array(
                    "\u{10FE80}\u{10FEFF}\u{10FE7F}".unicodeScalars.randomElement(using: &random).map { String($0) }?
                        .utf8 ?? "".utf8)
            case 4: [0xF4, 0x8F, 0xBA, UInt8.random(in: 1...255, using: &random)]
            default: Array("\u{301}".utf8)
            }
        }
    }

    private static func bytes(_ text: String) -> [UInt8] { text.systemBytes.dropLast().map { UInt8(bitPattern: $0) } }

    @Test func everyNameComesBackByteForByteAndNoTwoAreTheSameText() {
        var random = SeededGenerator(seed: 51)
        var seen: [[UInt8]: [UInt8]] = [:]
        for _ in 0..<20_000 {
            let name = Self.name(&random)
            let text = String(system: name)
            #expect(Self.bytes(text) == name)
            #expect(text.systemByteCount == name.count)
            #expect(text.systemBytes.last == 0)
            let other = seen.updateValue(name, forKey: Array(text.utf8))
            #expect(other == nil || other == name)
        }
    }

    @Test func partsOfNamesPutTogetherAreTheBytesPutTogether() {
        var random = SeededGenerator(seed: 52)
        for _ in 0..<5_000 {
            let (folder, name) = (Self.name(&random), Self.name(&random))
            let path = String(system: folder) + "/" + String(system: name)
            #expect(Self.bytes(path) == folder + [UInt8(ascii: "/")] + name)
        }
    }

    @Test func textInUTF8IsTheSameText() {
        for text in ["", "a", "Zürich/東京.jpg", "\u{FFFD}", "\u{10FFFD}\u{10FE7F}\u{10FF00}", "e\u{301}"] {
            #expect(Array(String(system: Array(text.utf8)).utf8) == Array(text.utf8))
            #expect(!text.holdsForeignBytes && text.shown == text)
        }
    }

    @Test func aByteThatIsNotUTF8IsShownByItsNumber() {
        #expect(String(system: Array("M".utf8) + [0xFC] + Array("ller.jpg".utf8)).shown == "M\\xFCller.jpg")
        #expect(String(system: [0xE2, 0x82]).shown == "\\xE2\\x82")
        #expect(String(system: Array("\u{10FEE4}".utf8)).shown == "\\xF4\\x8F\\xBB\\xA4")
    }

    @Test func variablesAndTheFolderAreReadAsTheyAre() {
        let value = String(system: [UInt8(ascii: "v"), 0xFF])
        setenv("BGRUN_TEST_SYSTEM_TEXT", value.systemBytes, 1)
        defer { unsetenv("BGRUN_TEST_SYSTEM_TEXT") }
        #expect(ProcessTexts.environment["BGRUN_TEST_SYSTEM_TEXT"] == value)
        #expect(ProcessTexts.folder?.hasPrefix("/") == true)
    }

    @Test func wordsOfANewProcessAreTheBytesThatTheyWere() {
        let word = String(system: [0x80, UInt8(ascii: "x")])
        let copies = ProcessTexts.copies([word])
        defer { for copy in copies { free(copy) } }
        #expect(copies.count == 2 && copies[1] == nil)
        #expect(copies[0].map { strlen($0) } == 2)
        #expect(copies[0].map { UInt8(bitPattern: $0[0]) } == 0x80)
    }
}
