import Foundation
import InferenceData
import Testing

/// `bgrun presets`: what `--preset` takes.
@Suite struct PresetsTests {
    private let place: TestPlace

    init() throws { place = try TestPlace() }

    private struct Document: Decodable {
        struct Key: Decodable {
            var key: String
            var values: String
            var meaning: String
        }
        struct Preset: Decodable {
            var name: String
            var file: String
        }
        struct Infer: Decodable {
            var presets: [Preset]
            var keys: [Key]
        }
        struct Export: Decodable {
            var keys: [Key]
            var operations: [Key]
        }
        var infer: Infer
        var export: Export
    }

    @Test func everyKeyIsListedWithItsRangeAndMeaning() throws {
        let ended = try place.bgrun("presets", "--json")
        #expect(ended.status == 0)
        let document = try JSONDecoder().decode(Document.self, from: Data(ended.output.utf8))
        #expect(document.infer.presets.map(\.name) == ImagePreset.names)
        for preset in document.infer.presets { _ = try ImagePreset.parse(preset.file) }
        #expect(document.infer.keys.map(\.key) == ImagePreset.keys.map(\.name))
        let text = try place.bgrun("presets").output
        for key in document.infer.keys + document.export.keys + document.export.operations {
            #expect(!key.values.isEmpty && !key.meaning.isEmpty, "\(key.key)")
            #expect(text.contains("  \(key.key): \(key.values)") && text.contains(key.meaning), "\(key.key)")
        }
    }

    @Test func listedOperationsAreThoseOfAFileAndTheirRangesHold() throws {
        try place.putPhotos(1)
        let listed = try JSONDecoder().decode(
            Document.self, from: Data(try place.bgrun("presets", "--json").output.utf8)
        ).export.operations
        #expect(listed.count == 9)
        for operation in listed {
            try place.write("operations:\n  - \(operation.key): nothing\n", to: "look.yml")
            let ended = try place.bgrun("export", "photos", "--out", "out", "--preset", "look.yml", "--dry-run")
            #expect(ended.status == 64, "\(operation.key)")
            // The refusal has the same ranges, and knows the name.
            let isTold = ended.errors.contains("\(operation.key) takes \(operation.values)")
            #expect(isTold || operation.key == "curve", "\(ended.errors)")
        }
    }

    @Test func aPresetIsPrintedAsAFileToBeginWith() throws {
        let ended = try place.bgrun("presets", "yolo")
        #expect(ended.status == 0)
        #expect(try ImagePreset.parse(ended.output) == .yolo)
        let wrong = try place.bgrun("presets", "yolov8")
        #expect(wrong.status == 64 && wrong.errors.contains("imagenet, clip, yolo, unit"), "\(wrong.errors)")
    }
}
