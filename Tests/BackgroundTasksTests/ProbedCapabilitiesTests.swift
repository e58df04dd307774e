import BackgroundTasks
import ResourceProbe
import TaskModel
import Testing

@Suite struct ProbedCapabilitiesTests {
    @Test("rule 31, rule 20: without bgrun to probe with no driver is tried, and the absence says what to install")
    func noProbe() {
        let options = ProbeOptions(environment: ["PATH": "/nowhere"])
        let capabilities = ProbedCapabilities(options, beside: nil).capabilities()
        #expect(capabilities.devices.isEmpty && capabilities.absences.map(\.code) == ["noProbe"])
        #expect(capabilities.absences[0].fix.contains("bgrun"))
    }

    @Test("rule 31, rule 20: a probe that does not answer is a reason, and this program is never started in its place")
    func brokenProbe() {
        let environment = ["BGRUN_PROBE": "/bin/false", "PATH": "/bin"]
        let capabilities = ProbedCapabilities(ProbeOptions(environment: environment)).capabilities()
        #expect(capabilities.devices.isEmpty)
        #expect(!capabilities.absences.isEmpty && !capabilities.absences.map(\.code).contains("noProbe"))
    }
}
