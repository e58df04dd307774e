import Foundation
import Testing

/// Where kernels run, and what is refused. PoCL, a CPU driver, has to be installed.
@Suite struct DeviceChoiceTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
        try place.putPhotos(2)
    }

    @Test func aRequiredGPUThatIsMissingIsRefusedBeforeAnyInputIsTouched() throws {
        let ended = try place.bgrun("export", "photos", "missing.jpg", "--out", "out", "--gpu", "--report", "r.jsonl")
        #expect(ended.status == 69)
        #expect(ended.errors.contains("onlyCPUDevices"))
        #expect(ended.errors.contains("driver"), "what would help")
        #expect(!place.exists("out") && !place.exists("r.jsonl") && !place.exists(".state"))
    }

    @Test func aPreferredGPUThatIsMissingLeavesTheWorkToTheCPU() throws {
        #expect(try place.bgrun("export", "photos", "--out", "cpu", "--size", "100", "--cpu").status == 0)
        #expect(try place.bgrun("export", "photos", "--out", "any", "--size", "100", "--prefer-gpu").status == 0)
        #expect(try place.contents("cpu") == place.contents("any"))
    }

    @Test func withoutAWishTheFirstPicturesDecideAndTheBytesAreTheSame() throws {
        let photo = try #require(try Photos.small.get().first)
        for number in 0..<40 { try place.put(photo, at: "many/\(number).jpg") }
        #expect(try place.bgrun("export", "many", "--out", "cpu", "--size", "100", "--cpu").status == 0)
        let ended = try place.bgrun(
            "export", "many", "--out", "any", "--size", "100", environment: ["BGRUN_TEST_CPU_AS_GPU": "1"])
        #expect(ended.status == 0)
        #expect(try place.contents("cpu") == place.contents("any"))
    }

    @Test func aDeviceThatStandsForAGPUIsNamedAndGivesTheSameBytes() throws {
        #expect(try place.bgrun("export", "photos", "--out", "cpu", "--size", "100", "--cpu").status == 0)
        let ended = try place.bgrun(
            "export", "photos", "--out", "gpu", "--size", "100", "--gpu", "--report", "r.jsonl",
            environment: ["BGRUN_TEST_CPU_AS_GPU": "1"])
        #expect(ended.status == 0)
        #expect(ended.errors.contains("stands for a GPU"))
        let report = try String(contentsOfFile: place.path + "/r.jsonl", encoding: .utf8)
        #expect(report.split(separator: "\n").allSatisfy { $0.contains("(standing for a GPU)") })
        #expect(try place.contents("cpu") == place.contents("gpu"))
    }
}
