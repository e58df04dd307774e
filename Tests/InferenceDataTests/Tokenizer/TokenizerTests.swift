import Foundation
import Inference
import InferenceData
import Testing

/// Compared with the library that the files were made with; see Scripts/tokenizer_files.py.
@Suite struct TokenizerTests {
    private struct Expected: Decodable {
        var texts: [String]
        var tokenizers: [String: [[Int]]]
    }

    static func tokenizer(_ name: String) throws -> Tokenizer {
        try Tokenizer(json: Fixture.bytes("\(name).json", in: "Tokenizers"))
    }

    @Test(arguments: ["bert", "cased", "roberta", "prefixed", "clip", "later", "levels"])
    func everyTextGetsTheNumbersOfTheLibrary(name: String) throws {
        let expected = try JSONDecoder().decode(
            Expected.self, from: Data(Fixture.bytes("expected.json", in: "Tokenizers")))
        let tokenizer = try Self.tokenizer(name)
        let rows = try #require(expected.tokenizers[name])
        try #require(rows.count == expected.texts.count && rows.count > 100)
        for (text, ids) in zip(expected.texts, rows) {
            let encoding = try tokenizer.encode(text)
            #expect(encoding.ids == ids, "\(text.unicodeScalars.map { String($0.value, radix: 16) })")
            #expect(encoding.typeIDs == [Int](repeating: 0, count: ids.count))
        }
    }

    @Test func aBatchIsAsLongAsItsLongestText() throws {
        let tokenizer = try Self.tokenizer("bert")
        let texts = ["", "the", "the the the"]
        let rows = try tokenizer.rows(texts)
        let single = try texts.map { try tokenizer.encode($0).ids }
        let length = try #require(single.map(\.count).max())
        #expect(rows.inputIDs.shape == [3, length] && rows.inputIDs.elementType == .int64)
        for (row, ids) in single.enumerated() {
            let range = (row * length)..<((row + 1) * length)
            let gap = [Int](repeating: 0, count: length - ids.count)
            #expect(Array(rows.inputIDs.indices()[range]) == ids + gap)
            #expect(Array(rows.attentionMask.indices()[range]) == ids.map { _ in 1 } + gap)
        }
        #expect(rows.tokenTypeIDs.shape == [3, length] && rows.tokenTypeIDs.integers().allSatisfy { $0 == 0 })
    }

    @Test func aGivenLengthIsKept() throws {
        let tokenizer = try Self.tokenizer("bert")
        let rows = try tokenizer.rows(["the quick brown fox", "a"], length: 5)
        #expect(rows.inputIDs.shape == [2, 5])
        let ids = rows.inputIDs.indices()
        let whole = try tokenizer.encode("the quick brown fox").ids
        // Cut in the text, with the special tokens kept.
        #expect(Array(ids[..<5]) == Array(whole[..<4]) + [whole[whole.count - 1]])
        let short = try tokenizer.encode("a").ids.count
        #expect(rows.attentionMask.integers().reduce(0, +) == 5 + Int64(short))
        let long = try tokenizer.rows(["a"], length: 70)
        #expect(long.inputIDs.shape == [1, 70])
        #expect(dataError { () throws(DataError) in try tokenizer.rows(["a"], length: .max) }?.code == .tooLarge)
        let uncut = try tokenizer.encode("the quick brown fox")
        #expect(dataError { () throws(DataError) in try tokenizer.rows(of: [uncut], length: 5) }?.code == .mismatch)
    }

    @Test func lengthsMayBeRoundedUpToAMultiple() throws {
        let tokenizer = try Self.tokenizer("bert")
        let texts = ["a", "the quick brown fox"]
        let counts = try texts.map { try tokenizer.encode($0).ids.count }
        let longest = try #require(counts.max())
        try #require(longest % 8 != 0)
        let rows = try tokenizer.rows(texts, multipleOf: 8)
        #expect(rows.inputIDs.shape == [2, (longest + 7) / 8 * 8])
        #expect(rows.attentionMask.integers().reduce(0, +) == Int64(counts.reduce(0, +)))
        #expect(try tokenizer.rows(texts, multipleOf: 1_000).inputIDs.shape == [2, 48])
        #expect(try tokenizer.rows(texts, length: 11, multipleOf: 8).inputIDs.shape == [2, 11])
    }

    @Test func theLimitMayBeSet() throws {
        var tokenizer = try Self.tokenizer("bert")
        #expect(tokenizer.largestLength == 48)
        let text = String(repeating: "the ", count: 100)
        #expect(try tokenizer.encode(text).ids.count == 48)
        tokenizer.largestLength = nil
        #expect(try tokenizer.encode(text).ids.count == 102)
        tokenizer.largestLength = 2
        #expect(dataError { () throws(DataError) in try tokenizer.rows([text]) }?.code == .mismatch)
        #expect(dataError { () throws(DataError) in try tokenizer.rows([]) }?.code == .mismatch)
    }

    @Test func aVeryLongWordTakesNoQuadraticTime() throws {
        let tokenizer = try Self.tokenizer("roberta")
        let once = try tokenizer.encode(String(repeating: "lomi", count: 25_000)).ids
        // The same merges everywhere but at the ends.
        #expect(once.count > 10_000 && Set(once[100..<(once.count - 100)]).count < 20)
    }
}
