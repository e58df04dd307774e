import Foundation
import Glibc
import Testing

/// `bgrun tune`, on the OpenCL runtime for CPUs.
@Suite struct TuneCommandTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    private func tunings() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: place.path + "/.cache/bgrun/tunings")) ?? []
    }

    @Test func whatWasMeasuredIsToldAndKept() throws {
        let ended = try place.bgrun("tune", "--json", "--most", "2")
        #expect(ended.status == 0, "\(ended.errors)")
        let document = try ended.json()
        let figures = try #require(document["figures"] as? [[String: Any]])
        #expect(figures.count == 6)
        #expect(figures.allSatisfy { ($0["rate"] as? Double ?? 0) > 0 })
        let tiles = (document["tuning"] as? [String: Any])?["tiles"] as? [String: Any]
        #expect(Set(try #require(tiles).keys) == ["few", "some", "many"])
        #expect(ended.errors.contains("measuring, 1 of "))
        #expect(tunings().count == 1)
    }

    @Test func aSignalStopsWithNothingChanged() throws {
        let run = try CommandRun(["tune"], in: place)
        #expect(run.waits(for: "measuring, 1 of "))
        run.send(SIGINT)
        let ended = run.end()
        #expect(ended.status == 75, "\(ended.errors)")
        #expect(ended.output.isEmpty && ended.errors.contains("nothing was changed"))
        #expect(tunings().isEmpty)
    }

    @Test func aDeviceThatIsNotThereIsRefused() throws {
        let ended = try place.bgrun("tune", "--device", "nobody:gpu:nothing")
        #expect(ended.status == 69)
        #expect(ended.errors.contains("nobody:gpu:nothing") && ended.errors.contains("bgrun devices"))
    }
}
