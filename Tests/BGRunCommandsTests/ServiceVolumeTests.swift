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

    /// Submits the export and brings it to the foreground: beside a busy machine the background may take for ever.
    private func begin(_ service: ServicePlace, hangsOn picture: String? = nil) throws {
        let hang = picture.map { ["BGRUN_TEST_HANG_ON": $0] } ?? [:]
        let ended = try service.start(
            arguments + ["--detach"] + (picture == nil ? [] : ["--stall-limit", "5s"]), environment: hang
        ).end()
        #expect(ended.status == 0 && ended.output == "1\n", "\(ended.errors)")
        #expect(try service.bgrun("fg", "1").status == 0)
    }

    /// Waits until one picture is made and the second hangs.
    private func hangs(_ service: ServicePlace) throws -> Bool {
        try service.comes {
            let progress = try service.job(1)["progress"] as? [String: Any]
            return progress?["itemsDone"] as? Int == 1
        }
    }

    /// What the service said, for a person who looks into a failure.
    private func log(_ service: ServicePlace) -> Comment {
        let path = service.place.path + "/.state/bgrun/service.log"
        return Comment(rawValue: (try? String(contentsOfFile: path, encoding: .utf8)) ?? "no log")
    }

    @Test("rule 76, rule 50: a job whose volume is full waits, says so, and goes on by itself when there is room")
    func aJobWhoseVolumeIsFullWaitsAndGoesOn() throws {
        let service = try service(backoff: "3s")
        let place = service.place
        let volume = try FullVolume(in: place, size: "512k")
        let reference = try reference(place)
        try begin(service)
        #expect(
            try service.comes {
                let reasons = try service.job(1)["reasons"] as? [[String: Any]]
                return reasons?.contains { $0["code"] as? String == "backoff" } == true
            }, log(service))
        let count = try made(place, areIn: reference)
        #expect(count < reference.count, "it stopped early")
        let notes = try service.job(1)["text"] as? String ?? ""
        try volume.resize("64m")
        let waited = try service.bgrun("wait", "1")
        #expect(waited.status == 0, "\(notes) \(waited.errors)")
        #expect(try made(place, areIn: reference) == reference.count)
        let told = try service.bgrun("attach", "1").errors
        #expect(told.contains("No space left on device") && told.contains("It is tried again in 3 s."), "\(told)")
    }

    @Test("rule 50: a job whose volume stays full fails with that reason, and resume goes on when there is room")
    func aJobWhoseVolumeStaysFullFails() throws {
        let service = try service(backoff: "10ms")
        let place = service.place
        let volume = try FullVolume(in: place, size: "512k")
        let reference = try reference(place)
        try begin(service)
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
        let volume = try FullVolume(in: place, size: "64m")
        let reference = try reference(place)
        try begin(service, hangsOn: "photo-0002")
        #expect(try hangs(service), log(service))
        #expect(service.comes { volume.setReadOnly(true) })
        let waited = try service.bgrun("wait", "1", "--json")
        #expect([73, 74].contains(waited.status), "\(waited.output)")
        #expect(waited.output.contains("nothing can be written"), "\(waited.output)")
        #expect(try made(place, areIn: reference) == 1)
        #expect(volume.setReadOnly(false))
        #expect(try service.bgrun("resume", "1").status == 0)
        // The picture that hangs is still there.
        #expect(try service.bgrun("wait", "1").status == 65)
        #expect(try made(place, areIn: reference) == reference.count - 1)
    }

    @Test("rule 50: an output volume that is unmounted stops the job with a reason, and nothing is left half")
    func anUnmountedVolumeStopsTheJob() throws {
        let service = try service(backoff: "1h")
        let place = service.place
        let volume = try FullVolume(in: place, size: "64m")
        try begin(service, hangsOn: "photo-0002")
        #expect(try hangs(service), log(service))
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
        #expect(told.contains("unmounted"), "\(told)")
        #expect(try service.bgrun("cancel", "1").status == 0)
    }

    @Test("rule 50: a job goes on when its volume is mounted again, and writes nothing below it until then")
    func aJobWaitsForItsVolume() throws {
        let service = try service(backoff: "10ms")
        let place = service.place
        let reference = try reference(place)
        let volume = try FullVolume(in: place, size: "64m")
        try begin(service, hangsOn: "photo-0002")
        #expect(try hangs(service), log(service))
        volume.unmount()
        let waited = try service.bgrun("wait", "1", "--json")
        #expect(waited.status == 74, "\(waited.output)")
        #expect(waited.output.contains("is not mounted"), "\(waited.output) \(log(service))")
        #expect(try place.contents("volume").isEmpty)
        try FileManager.default.createDirectory(atPath: place.path + "/volume/out", withIntermediateDirectories: true)
        #expect(try service.bgrun("resume", "1").status == 0)
        #expect(try service.bgrun("wait", "1").status == 65)
        #expect(try made(place, areIn: reference) == reference.count - 1, "all but the one that hangs")
    }

    @Test("rule 68: an input that vanishes under way is one failed picture with its reason, and the job goes on")
    func anInputThatVanishesIsOneFailedPicture() throws {
        let service = try service(backoff: "10ms")
        let place = service.place
        let reference = try reference(place)
        let last = try #require(reference.keys.sorted().last)
        try FileManager.default.createDirectory(atPath: place.path + "/volume", withIntermediateDirectories: true)
        try begin(service, hangsOn: "photo-0002")
        #expect(try hangs(service), log(service))
        try FileManager.default.removeItem(atPath: place.path + "/photos/" + last)
        let waited = try service.bgrun("wait", "1", "--json")
        #expect(waited.status == 65, "\(waited.output)")
        #expect(waited.output.contains("No such file"), "\(waited.output) \(log(service))")
        #expect(try made(place, areIn: reference) == reference.count - 2, "that one, and the one that hangs")
    }
}
