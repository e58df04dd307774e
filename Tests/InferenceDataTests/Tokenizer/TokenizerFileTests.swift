import Inference
import InferenceData
import Testing

@Suite struct TokenizerFileTests {
    private static func error(_ json: String) -> DataError? {
        dataError { () throws(DataError) in try Tokenizer(json: Array(json.utf8)) }
    }

    private static let model = #""model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"a":1}}"#

    @Test func theLeastFileWorks() throws {
        let tokenizer = try Tokenizer(json: Array("{\(Self.model)}".utf8))
        #expect(try tokenizer.encode("a").ids == [1])
        #expect(try tokenizer.encode("a b").ids == [0])
        #expect(tokenizer.largestLength == nil)
    }

    @Test func everythingThatIsNotSupportedIsListed() throws {
        let error = try #require(
            Self.error(
                """
                {"normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled"},{"type":"NFC"},{"type":"Nmt"}]},
                "pre_tokenizer":{"type":"Metaspace"},"post_processor":{"type":"Strange"},
                "model":{"type":"Unigram","vocab":[["a",0]]}}
                """))
        #expect(error.code == .unsupported)
        #expect(
            error.unsupported == [
                "the normalizer \"Precompiled\"", "the normalizer \"Nmt\"", "the pre-tokenizer \"Metaspace\"",
                "the model \"Unigram\"", "the post-processor \"Strange\"",
            ])
        let fallback = Self.error(
            #"{"model":{"type":"BPE","byte_fallback":true,"dropout":0.1,"vocab":{"a":0},"merges":[]}}"#)
        #expect(fallback?.unsupported.count == 2)
        let expression = Self.error(
            #"{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(("},"behavior":"Isolated"},\#(Self.model)}"#)
        #expect(expression?.code == .unsupported && expression?.unsupported.count == 1)
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"model\":3}", "{\"model\":{}}", "{\"model\":{\"vocab\":{}}}",
        "{\"model\":{\"vocab\":{\"a\":-1}}}",
        "{\"model\":{\"vocab\":{\"a\":1.5}}}", "{\"model\":{\"vocab\":{\"a\":1}}}",
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1}}}",
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1},\"merges\":[\"a b\"]}}",
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1,\"b\":2},\"merges\":[\"a b\"]}}",
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1},\"merges\":[[\"a\"]]}}",
        "{\"model\":{\"type\":\"BPE\",\"unk_token\":\"?\",\"vocab\":{\"a\":1},\"merges\":[]}}",
    ])
    func whatIsNoTokenizerIsDamaged(json: String) {
        #expect(Self.error(json)?.code == .damaged)
    }

    @Test(arguments: [
        #""added_tokens":[{"content":"x"}]"#, #""added_tokens":[{"content":"x","id":-1}]"#,
        #""padding":{"pad_id":1e300}"#,
        #""truncation":{}"#, #""truncation":{"max_length":0}"#, #""padding":{}"#,
        #""post_processor":{"type":"BertProcessing"}"#,
        #""post_processor":{"type":"TemplateProcessing","single":[]}"#,
        #""post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x","type_id":0}}],"special_tokens":{}}"#,
    ])
    func partsThatContradictThemselvesAreDamaged(part: String) {
        #expect(Self.error("{\(part),\(Self.model)}")?.code == .damaged)
    }

    @Test func aTemplateTakesItsTextOnce() throws {
        func file(_ count: Int) -> String {
            let pieces = [String](repeating: #"{"Sequence":{"id":"A","type_id":0}}"#, count: count)
            let template = #"{"type":"TemplateProcessing","single":[\#(pieces.joined(separator: ","))]}"#
            return #"{"post_processor":\#(template),\#(Self.model)}"#
        }
        #expect(try Tokenizer(json: Array(file(1).utf8)).rows(["a"], length: 3).inputIDs.shape == [1, 3])
        #expect(Self.error(file(2))?.code == .unsupported)
    }

    @Test func aNormaliserThatLetsTextsGrowIsStopped() throws {
        func file(_ count: Int, added: String = "") -> String {
            let steps = [String](
                repeating: #"{"type":"Replace","pattern":{"String":"a"},"content":"aa"}"#, count: count)
            let normaliser = #"{"type":"Sequence","normalizers":[\#(steps.joined(separator: ","))]}"#
            return #"{"normalizer":\#(normaliser),\#(added)\#(Self.model)}"#
        }
        let tokenizer = try Tokenizer(json: Array(file(40).utf8))
        #expect(dataError { () throws(DataError) in try tokenizer.encode("a") }?.code == .tooLarge)
        #expect(try tokenizer.encode("b").ids == [0])
        let token = #""added_tokens":[{"id":5,"content":"a"}],"#
        #expect(Self.error(file(40, added: token))?.code == .tooLarge)
        #expect(try Tokenizer(json: Array(file(3, added: token).utf8)).encode("a").ids == [5])
    }

    @Test func aFileCutAnywhereIsDamaged() throws {
        let bytes = try Fixture.bytes("bert.json", in: "Tokenizers")
        for count in stride(from: 0, to: bytes.count, by: 13) {
            let cut = Array(bytes.prefix(count))
            #expect(dataError { () throws(DataError) in try Tokenizer(json: cut) }?.code == .damaged, "cut at \(count)")
        }
    }

    @Test func aLimitOfWordsThatIsNoneTakesNoQuadraticTime() throws {
        let json = """
            {"model":{"type":"WordPiece","unk_token":"u","max_input_chars_per_word":1e9,"vocab":{"u":0,"a":1,"##a":2}}}
            """
        let tokenizer = try Tokenizer(json: Array(json.utf8))
        #expect(try tokenizer.encode(String(repeating: "a", count: 500_000)).ids.count == 500_000)
    }

    @Test func deepNestingIsRefused() {
        #expect(Self.error(String(repeating: "[", count: 100_000))?.code == .damaged)
    }

    @Test func tokensThatOnlyLookEquivalentStayApart() throws {
        // U+F900 is canonically equivalent to U+8C48, and é to e with an accent.
        let tokenizer = try Tokenizer(
            json: Array(
                """
                {"model":{"type":"WordLevel","unk_token":"u","vocab":{"\\uf900":1,"\\u8c48":2,"\\u00e9":3,"e\\u0301":4,"u":0}}}
                """.utf8))
        #expect(
            try ["\u{F900}", "\u{8C48}", "\u{E9}", "e\u{301}", "x"].map { try tokenizer.encode($0).ids } == [
                [1], [2], [3], [4], [0],
            ])
    }

    @Test func aFileAboveTheLimitIsRefused() throws {
        let file = try TestFile(Array("{\(Self.model)}".utf8))
        let opened = try file.open()
        #expect(dataError { () throws(DataError) in try Tokenizer(opened, largestBytes: 10) }?.code == .tooLarge)
        #expect(try Tokenizer(opened).encode("a").ids == [1])
    }
}
