import Foundation
import Glibc
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

    /// The layer answers "GPU" on top of PoCL, so that the whole path of a required GPU is taken without one.
    @Test func aRequiredGPUThatIsThereDoesTheWork() throws {
        let layer = try TestDrivers.folder.get() + "/libgpu-layer.so"
        #expect(try place.bgrun("export", "photos", "--out", "cpu", "--size", "100", "--cpu").status == 0)
        let ended = try place.bgrun(
            "export", "photos", "--out", "gpu", "--size", "100", "--gpu", "--report", "r.jsonl",
            environment: ["OPENCL_LAYERS": layer])
        #expect(ended.status == 0, "\(ended.errors)")
        let report = try String(contentsOfFile: place.path + "/r.jsonl", encoding: .utf8)
        #expect(report.split(separator: "\n").count == 2)
        #expect(report.split(separator: "\n").allSatisfy { $0.contains("Test GPU on") })
        #expect(try place.contents("cpu") == place.contents("gpu"))
    }

    @Test(arguments: [
        ("crashes-in-devices", "driverCrashed"), ("no-devices", "platformWithoutDevices"),
        ("computes-wrongly", "wrongAnswer"),
    ])
    func aBrokenDriverIsToldApartAndThePreferenceFallsBackToTheCPU(driver: String, code: String) throws {
        let folder = try TestDrivers.folder.get()
        let environment = ["OCL_ICD_VENDORS": "\(folder)/\(driver)"]
        let refused = try place.bgrun("export", "photos", "--out", "out", "--gpu", environment: environment)
        #expect(refused.status == 69)
        #expect(refused.errors.contains(code), "\(refused.errors)")
        let done = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--prefer-gpu", environment: environment)
        #expect(done.status == 0)
        #expect(try place.contents("out").count == 2)
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

/// The drivers of `Tests/Drivers`, compiled once.
enum TestDrivers {
    static let folder = Result { () throws -> String in
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = NSTemporaryDirectory() + "bgrun-commands-drivers-\(getuid())"
        let script = try Process.run(
            package.appendingPathComponent("scripts/build-test-drivers.sh"), arguments: [folder])
        script.waitUntilExit()
        try #require(script.terminationStatus == 0)
        return folder
    }
}
