import Foundation
import Glibc
import SeededNumbers
import Testing

@Suite struct KillTests {
    /// Kills at random moments until there were this many; `BGRUN_TEST_KILLS=1000` for the long form.
    private static let kills = ProcessInfo.processInfo.environment["BGRUN_TEST_KILLS"].flatMap { Int($0) } ?? 24

    @Test func aJobKilledAtAnyMomentEndsWithTheSameFiles() throws {
        let seed = UInt64.random(in: 0...999_999)
        var random = SeededGenerator(seed: seed)
        let place = try TestPlace()
        try place.putPhotos(from: Photos.large)
        let arguments = ["export", "photos", "--size", "400", "--progress", "none", "--out"]
        let clock = ContinuousClock()
        var status: Int32 = 0
        let wholeRun = try clock.measure { status = try CommandRun(arguments + ["whole"], in: place).end().status }
        #expect(status == 0)
        let whole = try place.contents("whole")
        let span = Double(wholeRun.components.seconds) + Double(wholeRun.components.attoseconds) * 1e-18

        var killed = 0
        while killed < Self.kills {
            let run = try CommandRun(arguments + ["out"], in: place)
            usleep(UInt32(Double.random(in: 0...span, using: &random) * 1e6))
            run.send(SIGKILL)
            let ended = run.end()
            killed += ended.wasKilled ? 1 : 0
            // Whatever stands under a final name is whole.
            for (name, bytes) in try place.contents("out") where !name.hasPrefix(".") {
                #expect(bytes == whole[name], "seed \(seed), kill \(killed): \(name)")
            }
            if !ended.wasKilled {
                #expect(ended.status == 0, "seed \(seed): \(ended.errors)")
                try FileManager.default.removeItem(atPath: place.path + "/out")
            }
        }
        let last = try CommandRun(arguments + ["out"], in: place).end()
        #expect(last.status == 0, "seed \(seed): \(last.errors)")
        #expect(try place.contents("out") == whole, "seed \(seed)")
    }
}
