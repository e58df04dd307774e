import InferenceData
import Testing

@Suite struct TextSourceTests {
    private static func texts(_ bytes: [UInt8], _ format: TextSource.Format = .lines) throws -> [String] {
        let file = try TestFile(bytes)
        let source = try TextSource(file.open(), format: format)
        var texts: [String] = []
        for index in 0..<source.count { texts.append(try source.text(at: index)) }
        return texts
    }

    @Test func linesAreTexts() throws {
        #expect(try Self.texts([]) == [])
        #expect(try Self.texts(Array("one".utf8)) == ["one"])
        #expect(try Self.texts(Array("one\ntwo\n".utf8)) == ["one", "two"])
        #expect(try Self.texts(Array("\n\nthree".utf8)) == ["", "", "three"])
        #expect(try Self.texts(Array("one\r\ntwo\r\n\r\nfour\r".utf8)) == ["one", "two", "", "four"])
        #expect(try Self.texts([0xEF, 0xBB, 0xBF] + Array("größe\n👍".utf8)) == ["größe", "👍"])
        #expect(try Self.texts([0xEF, 0xBB, 0xBF]) == [])
    }

    @Test func anyTextIsReadAgainWherePiecesOfTheFileMeet() throws {
        // Lines of many lengths over several pieces.
        let lines = (0..<3_000).map { String(repeating: "abcdefghij", count: $0 * 7 % 41) + "\($0)" }
        let file = try TestFile(Array(lines.joined(separator: "\n").utf8))
        let source = try TextSource(file.open(), format: .lines)
        try #require(source.count == lines.count)
        try #require(try file.bytes.count > 600_000)
        for index in [2_999, 0, 1_500, 7, 2_998] + Array(0..<3_000) {
            #expect(try source.text(at: index) == lines[index])
            #expect(source.line(at: index) == index + 1)
        }
    }

    @Test func aFieldOfJSONLinesIsTheText() throws {
        let bytes = Array(
            """
            {"text": "first \\u00e9 \\ud83d\\ude42", "id": 1}

            {"id": 2, "text": "second", "other": {"text": "no"}}\r
              \t
            {"text": ""}
            """.utf8)
        let file = try TestFile(bytes)
        let source = try TextSource(file.open(), format: .jsonLines())
        #expect(source.count == 3)
        #expect(try [0, 1, 2].map { try source.text(at: $0) } == ["first é 🙂", "second", ""])
        #expect([0, 1, 2].map { source.line(at: $0) } == [1, 3, 5])
        #expect(try Self.texts(Array(#"{"body":"x"}"#.utf8), .jsonLines(field: "body")) == ["x"])
    }

    @Test(arguments: ["{\"text\": 3}", "{}", "[1]", "\"text\"", "{\"text\": \"a\"} b", "{\"text\": \"a", "nothing"])
    func linesWithoutATextAreDamagedAndNamed(line: String) throws {
        let file = try TestFile(Array("{\"text\":\"fine\"}\n\(line)\n{\"text\":\"fine too\"}\n".utf8))
        let source = try TextSource(file.open(), format: .jsonLines())
        #expect(source.count == 3)
        let error = try #require(dataError { () throws(DataError) in try source.text(at: 1) })
        #expect(error.code == .damaged && error.sentence.hasPrefix("Line 2 "))
        #expect(try source.text(at: 2) == "fine too")
    }

    @Test func bytesThatAreNoTextAreDamaged() throws {
        let file = try TestFile([0x61, 0x0A, 0xC3, 0x28, 0x0A])
        let source = try TextSource(file.open(), format: .lines)
        #expect(dataError { () throws(DataError) in try source.text(at: 1) }?.code == .damaged)
    }

    @Test func aLineAboveTheLimitIsNamed() throws {
        let file = try TestFile(Array("short\nmuch longer\n".utf8))
        let opened = try file.open()
        let error = try #require(
            dataError { () throws(DataError) in try TextSource(opened, format: .lines, largestLineBytes: 10) })
        #expect(error.code == .tooLarge && error.sentence.hasPrefix("Line 2 "))
        #expect(try TextSource(opened, format: .lines, largestLineBytes: 11).count == 2)
    }

    @Test func tooManyTextsAreRefused() throws {
        let file = try TestFile(Array("a\nb\nc".utf8))
        let opened = try file.open()
        let error = dataError { () throws(DataError) in try TextSource(opened, format: .lines, largestCount: 2) }
        #expect(error?.code == .tooLarge)
        #expect(try TextSource(opened, format: .lines, largestCount: 3).count == 3)
    }

    @Test func lookingForLinesStopsWhenAsked() throws {
        let file = try TestFile([UInt8](repeating: 0x0A, count: 10))
        let opened = try file.open()
        let error = dataError { () throws(DataError) in try TextSource(opened, format: .lines, shouldStop: { true }) }
        #expect(error?.code == .stopped)
    }
}
