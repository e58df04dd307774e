import Foundation
import Testing

/// `bgrun model`.
@Suite struct ModelCommandTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    private static func cases(_ path: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: ".build-onnx-cases/\(path)").path
    }

    @Test func aModelIsDescribed() throws {
        let model = Self.cases("light/light_resnet50.onnx")
        let text = try place.bgrun("model", model)
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains("[1, 3, 224, 224]") && text.output.contains("    53  Conv"))
        let json = try place.bgrun("model", model, "--json").json()
        #expect(json["nodes"] as? Int ?? 0 > 100)
    }

    @Test func aProfileTellsWhereTimeGoes() throws {
        let model = Self.cases("light/light_squeezenet.onnx")
        let found = try place.bgrun("model", model, "--profile", "--trace", place.path + "/steps.json")
        #expect(found.status == 0, "\(found.errors)")
        let trace = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(filePath: place.path + "/steps.json")))
        let events = try #require((trace as? [String: Any])?["traceEvents"] as? [[String: Any]])
        #expect(events.count { $0["name"] as? String == "Conv" } >= 26 && events.allSatisfy { $0["dur"] is Double })
        #expect(found.output.contains("  Conv\n") && found.output.contains("ms a run"), "\(found.output)")
        #expect(try place.bgrun("model", model, "--trace", "steps.json").status == 64)
        #expect(try place.bgrun("model", model, "--profile", "--json").status == 64)
    }

    @Test func whatIsNotSupportedIsListedAtOnce() throws {
        let refused = try place.bgrun("model", Self.cases("node/test_ai_onnx_ml_label_encoder_string_int/model.onnx"))
        #expect(refused.status == 69)
        #expect(refused.output.isEmpty && refused.errors.contains("operator ai.onnx.ml.LabelEncoder"))
    }

    @Test func whatIsNoModelIsRefusedByName() throws {
        try place.write("a text", to: "text.onnx")
        let damaged = try place.bgrun("model", "text.onnx")
        #expect(damaged.status == 65 && damaged.errors.contains("text.onnx"))
        #expect(try place.bgrun("model", "none.onnx").status == 66)
        let model = Self.cases("light/light_resnet50.onnx")
        #expect(try place.bgrun("model", model, "--extent", "batch").status == 64)
        #expect(try place.bgrun("model", model, "--extent", "batch=2").status == 64)
    }
}
