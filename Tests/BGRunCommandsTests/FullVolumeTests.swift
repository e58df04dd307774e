import Foundation
import Glibc
import Testing

/// A volume of 512 KiB, which takes a mount, and so the superuser.
@Suite(.enabled(if: FullVolume.isPossible, "mounting needs the superuser"))
struct FullVolumeTests {
    @Test(
        "rule 76, rule 50: a full volume stops the job early, leaves nothing half, and the job goes on when there is room"
    )
    func aFullVolumeStopsTheJobEarlyLeavesNothingHalfAndGoesOnWhenThereIsRoom() throws {
        let place = try TestPlace()
        try place.putPhotos(from: Photos.large)
        let volume = try FullVolume(in: place, size: "512k")
        let arguments = [
            "export", "photos", "--out", "volume/out", "--size", "1600", "--quality", "95", "--workers", "1",
        ]
        let full = try CommandRun(arguments, in: place).end()
        #expect(full.status == 74)
        #expect(full.errors.contains("full"))
        #expect(full.errors.contains("same command"))
        let made = try place.contents("volume/out")
        #expect(made.count < Photos.count - 1, "it stopped early")
        #expect(made.keys.allSatisfy { !$0.hasPrefix(".") })

        try volume.resize("64m")
        let rest = try CommandRun(arguments + ["--json"], in: place).end()
        #expect(rest.status == 0)
        #expect((try rest.json()["counts"] as? [String: Int])?["current"] == made.count)
        #expect(try CommandRun(arguments.map { $0 == "volume/out" ? "other" : $0 }, in: place).end().status == 0)
        #expect(try place.contents("volume/out") == place.contents("other"))
    }
}
