import Foundation
import Testing

/// A device that passes its probe and fails at its work, as a layer over PoCL plays it.
@Suite struct DeviceLossTests {
    private let layer: [String: String]

    init() throws {
        layer = ["OPENCL_LAYERS": try TestDrivers.folder.get() + "/libgpu-layer.so"]
    }

    private func failing(_ fault: String) -> [String: String] {
        layer.merging(["BGRUN_TEST_GPU_FAILS": fault]) { $1 }
    }

    @Test("rule 37: a job that requires a failing device stops with the reason, and the same command goes on")
    func requiredInProcess() throws {
        let place = try TestPlace()
        try place.putPhotos(6)
        let stopped = try place.bgrun(
            "export", "photos", "--out", "out", "--size", "100", "--gpu", environment: failing("status"))
        #expect(stopped.status == 75, "\(stopped.errors)")
        #expect(stopped.errors.contains("failed 3 times in a row"))
        #expect(stopped.errors.contains("--prefer-gpu"))
        #expect(try place.contents("out").isEmpty)
        let done = try place.bgrun("export", "photos", "--out", "out", "--size", "100", "--gpu", environment: layer)
        #expect(done.status == 0, "\(done.errors)")
        #expect(try place.contents("out").count == 6)
    }

    @Test(
        "rule 37, rule 36: a preferred device that fails or crashes costs no picture", arguments: ["status", "crash"])
    func preferredInProcess(fault: String) throws {
        let place = try TestPlace()
        try place.putPhotos(6)
        #expect(try place.bgrun("export", "photos", "--out", "cpu", "--size", "100", "--cpu").status == 0)
        let done = try place.bgrun(
            "export", "photos", "--out", "any", "--size", "100", "--prefer-gpu", environment: failing(fault))
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.errors.contains("failed 3 times in a row"))
        if fault == "crash" { #expect(done.errors.contains("SIGABRT")) }
        #expect(try place.contents("cpu") == place.contents("any"))
    }

    @Test("rule 35, rule 20: a device that fails in job after job is left alone, doctor says why and clears it")
    func quarantine() throws {
        let service = try ServicePlace(environment: layer)
        try service.place.putPhotos(6)
        #expect(!(try service.bgrun("doctor").output.contains("GPU")))
        for number in 1...3 {
            let ended = try service.bgrun(
                "export", "photos", "--out", "out\(number)", "--size", "100", "--prefer-gpu",
                environment: failing("status"))
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(try service.place.contents("out\(number)").count == 6)
        }
        let told = try service.bgrun("doctor").output
        #expect(told.contains("It failed in job 3"), "\(told)")
        #expect(told.contains("leave it alone until"))
        // The next one is not given the device, and what needs it is refused.
        let next = try service.bgrun("export", "photos", "--out", "out4", "--size", "100", "--prefer-gpu", "--json")
        #expect(next.status == 0 && next.errors.contains("the CPU is used"), "\(next.errors)")
        let refused = try service.bgrun("export", "photos", "--out", "out5", "--size", "100", "--gpu")
        #expect(refused.status == 69 && refused.errors.contains("deviceQuarantined"), "\(refused.errors)")
        // It outlives the service.
        #expect(try service.bgrun("service", "stop").status == 0)
        let again = try service.bgrun("export", "photos", "--out", "out5", "--size", "100", "--gpu")
        #expect(again.status == 69 && again.errors.contains("--clear-quarantine"), "\(again.errors)")
        #expect(!(try service.bgrun("doctor", "--clear-quarantine").output.contains("GPU")))
        let done = try service.bgrun("export", "photos", "--out", "out5", "--size", "100", "--gpu")
        #expect(done.status == 0, "\(done.errors)")
        #expect(try service.place.contents("out5") == service.place.contents("out1"))
    }

    @Test("rule 37: a job of the service that requires a failing device is tried again, and then waits for the device")
    func requiredInTheService() throws {
        let service = try ServicePlace(environment: layer)
        try service.place.putPhotos(6)
        let run = try service.start(
            ["export", "photos", "--out", "out", "--size", "100", "--gpu"], environment: failing("status"))
        #expect(
            service.comes {
                let reasons = (try? service.job(1))?["reasons"] as? [[String: Any]] ?? []
                return reasons.contains { $0["code"] as? String == "deviceQuarantined" }
            })
        #expect(try service.job(1)["attempt"] as? Int == 3)
        #expect(try service.place.contents("out").isEmpty)
        #expect(try service.bgrun("doctor").output.contains("It failed in job 1"))
        #expect(try service.bgrun("cancel", "1").status == 0)
        #expect(run.end().status != 0)
    }
}
