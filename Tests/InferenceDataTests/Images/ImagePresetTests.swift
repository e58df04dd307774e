import Inference
import InferenceData
import Testing

@Suite struct ImagePresetTests {
    private static func size(_ width: Int, _ height: Int) -> ImagePreset.Size {
        ImagePreset.Size(width: width, height: height)
    }

    @Test func presetsFollowTheModelsInput() throws {
        let plain = try ImagePreset.imagenet.fitted(to: TensorType(.float32, extents: [1, 3, 224, 224]))
        #expect(plain == .imagenet)
        let large = try ImagePreset.imagenet.fitted(to: TensorType(.float32, extents: [1, 3, 299, 299]))
        #expect(large.crop == Self.size(299, 299) && large.size == Self.size(342, 342))
        let box = try ImagePreset.yolo.fitted(
            to: TensorType(.float32, [.symbol("batch"), .known(3), .known(320), .known(416)]))
        #expect(box.size == Self.size(416, 320) && box.resize == .letterbox)
        let open = try ImagePreset.yolo.fitted(
            to: TensorType(.float32, [.unknown, .known(3), .symbol("height"), .symbol("width")]))
        #expect(open == .yolo)
        let last = try ImagePreset.imagenet.fitted(to: TensorType(.float32, extents: [1, 224, 224, 3]))
        #expect(last.layout == .nhwc && last.crop == Self.size(224, 224))
        let gray = try ImagePreset.unit.fitted(to: TensorType(.float32, extents: [1, 1, 28, 28]))
        #expect(gray.channels == .gray && gray.resize == .exact && gray.size == Self.size(28, 28))
        #expect(try ImagePreset.clip.fitted(to: nil) == .clip)
    }

    @Test func inputsThatNoPictureCanBeAreRefused() {
        for type in [
            TensorType(.float32, extents: [1, 5, 32, 32]), TensorType(.float32, extents: [1, 1_000]),
            TensorType(.float32, extents: [1, 3, 100_000, 10]), TensorType(.float32, extents: [1, 3, .max, .max]),
        ] {
            #expect(
                dataError { () throws(DataError) in
                    try ImagePreset.imagenet.fitted(to: type)
                }?.code == .mismatch)
        }
    }

    @Test func aFileChangesWhatItNames() throws {
        let preset = try ImagePreset.parse(
            """
            preset: imagenet
            size: 232
            filter: bicubic
            channels: bgr
            mean: [0.5, 0.5, 0.5]
            std: 0.5
            scale: 1/255
            """)
        var expected = ImagePreset.imagenet
        expected.size = Self.size(232, 232)
        expected.filter = .bicubic
        expected.channels = .bgr
        expected.mean = [0.5, 0.5, 0.5]
        expected.std = [0.5]
        #expect(preset == expected)
        let json = try ImagePreset.parse(
            #"{"resize": "letterbox", "size": "640x384", "fill": 114, "layout": "nhwc", "reducedDecoding": true}"#)
        #expect(json.resize == .letterbox && json.size == Self.size(640, 384) && json.fill == [114, 114, 114])
        #expect(json.layout == .nhwc && json.reducedDecoding)
        let whole = try ImagePreset.parse("preset: clip\nresize: none\ncrop: none")
        #expect(whole.resize == .none && whole.size == nil && whole.crop == nil && whole.mean == ImagePreset.clip.mean)
    }

    @Test(arguments: [
        "", "- a list", "resize: sideways\nsize: 3", "preset: unknown", "size: many", "colour: red", "size: [1, 2, 3]",
        "fill: 300", "mean: [a]", "resize: exact\nresize: none", "{", "reducedDecoding: perhaps", "scale: 1/2/3",
    ])
    func mistakesAreDamage(text: String) {
        let error = dataError { () throws(DataError) in try ImagePreset.parse(text) }
        #expect(error?.code == .damaged && error?.sentence.isEmpty == false)
    }

    @Test func mistakesNameTheirLine() throws {
        let error = try #require(
            dataError { () throws(DataError) in try ImagePreset.parse("resize: exact\nsize: 3\nfilter: nearest\n") })
        #expect(error.sentence.hasPrefix("Line 3: \"filter\""))
    }

    @Test func contradictionsAreRefused() {
        for text in [
            "resize: exact", "size: 3", "resize: exact\nsize: 0", "std: 0", "std: [0.2, -0.2, 0.2]", "std: nan",
            "scale: 0",
            "mean: [1, 2]", "scale: 1/0",
        ] {
            #expect(dataError { () throws(DataError) in try ImagePreset.parse(text) }?.code == .mismatch, "\(text)")
        }
    }

    @Test func numbersForAnotherRangeOfCodesAreDoubted() throws {
        for (name, preset) in ImagePreset.builtIn { #expect(preset.doubts.isEmpty, "\(name)") }
        let sound = [
            "scale: 1", "scale: 1/127.5\nmean: 1", "scale: 2/255\nmean: 1\nstd: 1", "scale: -1/255\nmean: -1",
            "scale: 1\nmean: [123.675, 116.28, 103.53]\nstd: [58.395, 57.12, 57.375]", "scale: 257",
        ]
        for text in sound { #expect(try ImagePreset.parse(text).doubts == [], "\(text)") }
        let doubted = [
            ("mean: [123.675, 116.28, 103.53]", "mean of 123.675 lies outside 0 to 1,"), ("mean: -0.5", "mean of -0.5"),
            ("scale: 1\nstd: [0.229, 0.224, 0.225]", "std of 0.229 does not go with 0 to 255,"),
            ("std: 255", "std of 255"),
        ]
        for (text, part) in doubted {
            let doubts = try ImagePreset.parse(text).doubts
            #expect(doubts.count == 1 && doubts[0].contains(part), "\(text): \(doubts)")
        }
    }

    @Test func everyKeyIsListedAndWhatIsListedIsRead() throws {
        for (name, preset) in ImagePreset.builtIn { #expect(try ImagePreset.parse(preset.file) == preset, "\(name)") }
        for key in ImagePreset.keys {
            #expect(!key.values.isEmpty && !key.meaning.isEmpty, "\(key.name)")
            #expect(key.usual == ImagePreset().text(of: key.name) ?? "")
            // A value that none takes is told by the key's own name, and not as an unknown one.
            let error = dataError { () throws(DataError) in try ImagePreset.parse("\(key.name): {a: b}") }
            #expect(error?.sentence.contains("is no key") == false, "\(key.name)")
        }
        let unknown = dataError { () throws(DataError) in try ImagePreset.parse("colour: red") }
        for key in ImagePreset.keys { #expect(unknown?.sentence.contains(key.name) == true) }
    }

    @Test func presetsAreFoundByNameOrPath() throws {
        for (name, preset) in ImagePreset.builtIn { #expect(try ImagePreset.named(name) == preset) }
        let file = try TestFile(Array("preset: yolo\nsize: 320".utf8))
        #expect(try ImagePreset.named("/proc/self/fd/\(file.descriptor)").size == Self.size(320, 320))
        let error = try #require(dataError { () throws(DataError) in try ImagePreset.named("/nowhere/imagenett") })
        #expect(error.code == .notReadable && error.sentence.contains("imagenet"))
    }
}
