import Foundation
import SystemConditions
import TaskModel
import Testing

struct GPULoadTests {
    private func client(_ number: Int, card: String = "0000:03:00.0", nanoseconds: Int, capacity: Int = 1) -> String {
        "drm-driver:\tamdgpu\ndrm-client-id:\t\(number)\ndrm-pdev:\t\(card)\n"
            + "drm-engine-gfx:\t\(nanoseconds) ns\ndrm-engine-capacity-gfx:\t\(capacity)\n"
    }

    /// A process that has a card open.
    private func put(_ fixture: Fixture, process: Int, _ text: String) throws {
        try fixture.write(text, to: "proc/\(process)/fdinfo/5")
        let link = "\(fixture.path)/proc/\(process)/fd/5"
        if (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) != nil { return }
        try FileManager.default.createDirectory(
            atPath: "\(fixture.path)/proc/\(process)/fd", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/dri/renderD128")
    }

    private static let card = [
        "sys/class/drm/card1/device/gpu_busy_percent": "80\n",
        "sys/class/drm/card1/device/uevent": "PCI_SLOT_NAME=0000:03:00.0\n",
    ]

    @Test("rule 40: the card's own figure counts as foreign while we use none of it")
    func busyPercent() throws {
        var meter = GPULoadMeter()
        let reading = try Fixture(Self.card).gpuLoad(&meter, own: [10], at: .zero)
        #expect(reading == .known(80, source: "/sys/class/drm/card1/device/gpu_busy_percent"))
    }

    @Test("rule 40: our own part is taken off the card's figure")
    func ownPart() throws {
        let fixture = try Fixture(Self.card)
        var meter = GPULoadMeter()
        try put(fixture, process: 10, client(1, nanoseconds: 0))
        try put(fixture, process: 20, client(2, nanoseconds: 0))
        let first = fixture.gpuLoad(&meter, own: [10], at: .zero)
        #expect(first.unknownBecause == "telling our own load apart takes a second reading")
        try put(fixture, process: 10, client(1, nanoseconds: 600_000_000))
        try put(fixture, process: 20, client(2, nanoseconds: 200_000_000))
        #expect(fixture.gpuLoad(&meter, own: [10], at: .seconds(1)).value == 20)
    }

    @Test("rule 40: what our processes started is ours", arguments: ["gpu_busy_percent", "vendor"])
    func whatOursStarted(file: String) throws {
        let card = file == "vendor" ? ["sys/class/drm/card0/device/vendor": "0x8086\n"] : Self.card
        let fixture = try Fixture(card)
        var meter = GPULoadMeter()
        for (process, parent) in [(10, 1), (11, 10), (12, 11), (20, 1)] {
            try fixture.write("\(process) (a) b) S \(parent) 0 0\n", to: "proc/\(process)/stat")
        }
        for process in [12, 20] { try put(fixture, process: process, client(process, nanoseconds: 0)) }
        _ = fixture.gpuLoad(&meter, own: [10], at: .zero)
        try put(fixture, process: 12, client(12, nanoseconds: 600_000_000))
        try put(fixture, process: 20, client(20, nanoseconds: 200_000_000))
        #expect(fixture.gpuLoad(&meter, own: [10], at: .seconds(1)).value == 20)
    }

    @Test("rule 40: where the card has no figure, the other processes' engine times are added up")
    func engineTimes() throws {
        let fixture = try Fixture(["sys/class/drm/card0/device/vendor": "0x8086\n"])
        var meter = GPULoadMeter()
        for (process, time) in [(10, 0), (20, 100), (30, 5_000)] {
            try put(fixture, process: process, client(process, nanoseconds: time))
        }
        #expect(
            fixture.gpuLoad(&meter, own: [10], at: .zero).unknownBecause == "a share of time takes a second reading")
        for (process, time) in [(10, 900_000_000), (20, 300_000_100), (30, 250_005_000)] {
            try put(fixture, process: process, client(process, nanoseconds: time))
        }
        // A descriptor that was handed on is still ours.
        try put(fixture, process: 40, client(10, nanoseconds: 900_000_000))
        #expect(fixture.gpuLoad(&meter, own: [10], at: .seconds(1)).value == 55)
        // Counters that have gone back, and a clock that stands still, tell nothing.
        try put(fixture, process: 20, client(20, nanoseconds: 0))
        #expect(fixture.gpuLoad(&meter, own: [10], at: .seconds(2)).value == 0)
        #expect(fixture.gpuLoad(&meter, own: [10], at: .seconds(2)).value == nil)
    }

    @Test("rule 40: of a kind of engine that there are several of, each has its share")
    func capacity() throws {
        let fixture = try Fixture(["sys/class/drm/card0/device/vendor": "0x8086\n"])
        var meter = GPULoadMeter()
        try put(fixture, process: 20, client(1, nanoseconds: 0, capacity: 2))
        _ = fixture.gpuLoad(&meter, own: [], at: .zero)
        try put(fixture, process: 20, client(1, nanoseconds: 1_000_000_000, capacity: 2))
        #expect(fixture.gpuLoad(&meter, own: [], at: .seconds(1)).value == 50)
    }

    @Test("rule 40, rule 41: without a card, or without any figure, the load is unknown")
    func unknown() throws {
        var meter = GPULoadMeter()
        #expect(
            try Fixture().gpuLoad(&meter, own: [], at: .zero).unknownBecause
                == "no graphics card below /sys/class/drm")
        let silent = try Fixture(["sys/class/drm/card0/device/gpu_busy_percent": "-ENODEV", "proc/1/stat": ""])
        #expect(
            silent.gpuLoad(&meter, own: [], at: .seconds(1)).unknownBecause
                == "the driver tells neither its load nor its clients'")
    }
}
