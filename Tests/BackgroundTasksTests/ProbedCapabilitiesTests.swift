import BackgroundTasks
import Foundation
import Locking
import ResourceProbe
import TaskModel
import TemporaryFolders
import Testing

@Suite struct ProbedCapabilitiesTests {
    @Test("rule 31, rule 20: without bgrun to probe with no driver is tried, and the absence says what to install")
    func noProbe() {
        let options = ProbeOptions(environment: ["PATH": "/nowhere"])
        let capabilities = ProbedCapabilities(options, beside: nil, cacheFolder: { nil }).capabilities()
        #expect(capabilities.devices.isEmpty && capabilities.absences.map(\.code) == ["noProbe"])
        #expect(capabilities.absences[0].fix.contains("bgrun"))
    }

    @Test("rule 31, rule 20: a probe that does not answer is a reason, and this program is never started in its place")
    func brokenProbe() {
        let environment = ["BGRUN_PROBE": "/bin/false", "PATH": "/bin"]
        let options = ProbeOptions(environment: environment)
        let capabilities = ProbedCapabilities(options, cacheFolder: { nil }).capabilities()
        #expect(capabilities.devices.isEmpty)
        #expect(!capabilities.absences.isEmpty && !capabilities.absences.map(\.code).contains("noProbe"))
    }

    @Test("rule 34: drivers are asked once for all processes, and again when one of them has changed")
    func cached() throws {
        let folder = try TemporaryFolder()
        let vendors = folder.file("vendors")
        try FileManager.default.createDirectory(atPath: vendors, withIntermediateDirectories: true)
        let options = ProbeOptions(environment: ["BGRUN_PROBE": "/bin/true", "OCL_ICD_VENDORS": vendors])
        let probes = Lock(0)
        func ask() -> Capabilities {
            // Each of its own, as each process has one.
            ProbedCapabilities(
                options, cacheFolder: { folder.path },
                probe: { _ in
                    probes.withLock { $0 += 1 }
                    let cpu = CPULane(name: "CPU", cores: 2, instructionSet: .baseline)
                    let cause = Cause(.noPlatform, "There is no platform.", fix: "Install a driver.")
                    return ProbeReport(cpu: cpu, drivers: [], whyNoGPU: [cause], cpuDevicesCountAsGPU: false)
                }
            ).capabilities()
        }
        let first = ask()
        #expect(first.absences.map(\.sentence) == ["There is no platform."])
        #expect(ask() == first && probes.withLock(\.self) == 1)
        try folder.write("libsome.so\n", to: "vendors/some.icd")
        #expect(ask() == first && probes.withLock(\.self) == 2)
    }
}
