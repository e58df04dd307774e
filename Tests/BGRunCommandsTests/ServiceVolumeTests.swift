import Foundation
import Glibc
import Testing

/// Jobs of the service whose output volume is full, cannot be written or goes away, or whose inputs do. Takes a mount, and
/// so the superuser.
@Suite(.enabled(if: FullVolume.isPossible, "mounting needs the superuser"))
struct ServiceVolumeTests {
    private let arguments = [
        "export", "photos", "--out", "volume/out", "--size", "1600", "--quality", "95", "--workers", "1",
    ]

    private func service(backoff: String) throws -> ServicePlace {
        let service = try ServicePlace(environment: ["BGRUN_TEST_BACKOFF": backoff])
        try service.place.putPhotos(from: Photos.large)
        return service
    }

    /// What the same export makes where nothing is wrong.
    private func reference(_ place: TestPlace) throws -> [String: Data] {
        let plain = arguments.map { $0 == "volume/out" ? "reference" : $0 }
        #expect(try CommandRun(plain, in: place).end().status == 0)
        return try place.contents("reference")
    }

    private func made(_ place: TestPlace, areIn reference: [String: Data]) throws -> Int {
        let made = try place.contents("volume/out")
        for (name, bytes) in made { #expect(reference[name] == bytes, "\(name)") }
        return made.count
    }

    private func detach(_ service: ServicePlace) throws {
        let ended = try service.start(arguments + ["--detach"]).end()
        #expect(ended.status == 0 && ended.output == "1\n", "\(ended.errors)")
    }

    @Test("rule 76, rule 50: a job whose volume is full waits, says so, and goes on by itself when there is room")
    func aJobWhoseVolumeIsFullWaitsAndGoesOn() throws {
        let service = try service(backoff: "3s")
        let place = service.place
        let volume = try FullVolume(place.path + "/volume", size: "512k")
        let reference = try reference(place)
        try detach(service)
        #expect(
            try service.comes {
                let reasons = try service.job(1)["reasons"] as? [[String: Any]]
                return reasons?.contains { $0["code"] as? String == "backoff" } == true
            })
        let count = try made(place, areIn: reference)
        #expect(count < reference.count, "it stopped early")
        let notes = try service.job(1)["text"] as? String ?? ""
        try volume.resize("64m")
        let waited = try service.bgrun("wait", "1")
        #expect(waited.status == 0, "\(notes) \(waited.errors)")
        #expect(try made(place, areIn: reference) == reference.count)
    }

    @Test("rule 50: a job whose volume stays full fails with that reason, and resume goes on when there is room")
    func aJobWhoseVolumeStaysFullFails() throws {
        let service = try service(backoff: "10ms")
        let place = service.place
        let volume = try FullVolume(place.path + "/volume", size: "512k")
        let reference = try reference(place)
        try detach(service)
        let waited = try service.bgrun("wait", "1", "--json")
        #expect(waited.status == 74, "\(waited.output)")
        #expect(waited.output.contains("conditionLost.outputVolume"))
        let count = try made(place, areIn: reference)
        #expect(count < reference.count)
        try volume.resize("64m")
        #expect(try service.bgrun("resume", "1").status == 0)
        #expect(try service.bgrun("wait", "1").status == 0)
        #expect(try made(place, areIn: reference) == reference.count)
        let counts = try service.job(1)["summary"] as? String ?? ""
        #expect(counts.contains("\"current\":\(count)"), "what was made is not made again: \(counts)")
    }

    @Test(
        "rule 50: a volume that becomes read-only stops the job with a reason, and it goes on when it is writable again"
    )
    func aVolumeThatBecomesReadOnlyStopsTheJob() throws {
        let service = try service(backoff: "10ms")
        let place = service.place
        let volume = try FullVolume(place.path + "/volume", size: "64m")
        let reference = try reference(place)
        try detach(service)
        #expect(try service.comes { try place.contents("volume/out").count > 1 })
        // Between two outputs no file is open for writing.
        #expect(service.comes { volume.setReadOnly(true) })
        let waited = try service.bgrun("wait", "1", "--json")
        #expect(![0, 65].contains(waited.status), "\(waited.output)")
        #expect(waited.output.lowercased().contains("read-only") || waited.output.contains("outputVolume"))
        #expect(try made(place, areIn: reference) < reference.count)
        #expect(volume.setReadOnly(false))
        #expect(try service.bgrun("resume", "1").status == 0)
        #expect(try service.bgrun("wait", "1").status == 0)
        #expect(try made(place, areIn: reference) == reference.count)
    }

    @Test("rule 50: an output volume that is unmounted stops the job with a reason, and nothing is left half")
    func anUnmountedVolumeStopsTheJob() throws {
        let service = try service(backoff: "1h")
        let place = service.place
        let volume = try FullVolume(place.path + "/volume", size: "64m")
        try detach(service)
        #expect(try service.comes { try place.contents("volume/out").count > 1 })
        volume.unmount()
        #expect(
            try service.comes {
                let job = try service.job(1)
                return job["state"] as? String == "waiting" || job["state"] as? String == "ended"
            })
        // The place below where it was mounted gets nothing.
        #expect(try place.contents("volume").isEmpty)
        let job = try service.job(1)
        let told = "\(job["text"] ?? "") \(job["outcome"] ?? "") \(job["reasons"] ?? "")"
        #expect(told.contains("unmounted") || told.contains("outputVolume") || told.contains("backoff"), "\(told)")
        #expect(try service.bgrun("cancel", "1").status == 0)
    }

    @Test("rule 68: an input that vanishes under way is one failed picture with its reason, and the job goes on")
    func anInputThatVanishesIsOneFailedPicture() throws {
        let service = try service(backoff: "10ms")
        let place = service.place
        let reference = try reference(place)
        let last = try #require(reference.keys.sorted().last)
        try FileManager.default.createDirectory(atPath: place.path + "/volume", withIntermediateDirectories: true)
        try detach(service)
        #expect(try service.comes { try place.contents("volume/out").count > 1 })
        try FileManager.default.removeItem(atPath: place.path + "/photos/" + last)
        let waited = try service.bgrun("wait", "1", "--json")
        #expect(waited.status == 65, "\(waited.output)")
        #expect(waited.output.contains("No such file"), "\(waited.output)")
        #expect(try made(place, areIn: reference) == reference.count - 1)
    }
}
