import Foundation
import ResourceProbe
import Testing

@Suite struct ProbeCacheTests {
    private let folder: String
    private let cache: ProbeCache
    private let driver: String
    private let options: ProbeOptions

    init() throws {
        folder = try TemporaryFolder.make()
        cache = ProbeCache(folder: folder)
        driver = "\(folder)/vendors/some.icd"
        try FileManager.default.createDirectory(atPath: "\(folder)/vendors", withIntermediateDirectories: true)
        try "\(folder)/libsome.so\n".write(toFile: driver, atomically: true, encoding: .utf8)
        try "library".write(toFile: "\(folder)/libsome.so", atomically: true, encoding: .utf8)
        options = ProbeOptions(environment: ["OCL_ICD_VENDORS": "\(folder)/vendors"])
    }

    /// How many of these readings had to probe.
    private func probes(_ readings: [(ProbeOptions, Double)], between: (Int) throws -> Void = { _ in }) throws -> Int {
        var count = 0
        for (index, reading) in readings.enumerated() {
            _ = cache.report(reading.0, uptime: reading.1) { _ in
                count += 1
                return Self.healthy
            }
            try between(index)
        }
        return count
    }

    private static let healthy = ProbeReport(
        cpu: CPULane(name: "CPU", cores: 2, instructionSet: .baseline), drivers: [], whyNoGPU: [],
        cpuDevicesCountAsGPU: false)

    @Test("rule 34: an unchanged machine is probed once")
    func once() throws {
        #expect(try probes(Array(repeating: (options, 100), count: 5)) == 1)
    }

    @Test("rule 34: another driver file, a changed library and other settings are probed anew")
    func changes() throws {
        var other = options
        other.environment["OCL_ICD_FILENAMES"] = "x"
        let count = try probes([(options, 1), (options, 2), (options, 3), (other, 4), (other, 5)]) { index in
            if index == 0 { try "changed".write(toFile: "\(folder)/libsome.so", atomically: true, encoding: .utf8) }
            if index == 1 {
                try "\(folder)/libother.so\n".write(
                    toFile: "\(folder)/vendors/other.icd", atomically: true, encoding: .utf8)
            }
        }
        #expect(count == 4)
    }

    @Test("rule 34: after a failure at work the machine is probed anew")
    func failure() throws {
        let count = try probes([(options, 1), (options, 2)]) { _ in cache.forget() }
        #expect(count == 2)
    }

    @Test("rule 34: the answer of a driver that crashed or hung holds for ten minutes only")
    func troubled() {
        let cause = Cause(.driverHung, "It hangs.", fix: "Wait.")
        var report = Self.healthy
        report.drivers = [DriverReport(icdFile: nil, library: "libsome.so", problem: cause)]
        var count = 0
        for uptime in [0.0, 599, 601] {
            _ = cache.report(options, uptime: uptime) { _ in
                count += 1
                return report
            }
        }
        #expect(count == 2)
    }

    @Test("rule 34: a damaged cache is probed over, and one that cannot be written costs nothing but a probe")
    func damaged() throws {
        try "{".write(toFile: "\(folder)/probe.json", atomically: true, encoding: .utf8)
        #expect(try probes([(options, 1), (options, 1)]) == 1)
        let nowhere = ProbeCache(folder: "/nonexistent/folder")
        #expect(nowhere.report(options, uptime: 1) { _ in Self.healthy } == Self.healthy)
    }
}
