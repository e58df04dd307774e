import BackgroundTasksTesting
import Foundation
import Testing

@Suite struct KillPointTests {
    @Test("rule 99: a process kills itself at a named point, the time that counts")
    func kills() async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            KillPoint.arm("committed", at: 2)
            KillPoint.reach("other")
            KillPoint.reach("committed")
            KillPoint.reach("committed")
        }
        await #expect(processExitsWith: .success) {
            KillPoint.arm("committed", at: 2)
            KillPoint.reach("committed")
        }
    }

    @Test("rule 99: a child process is armed by its environment")
    func environment() async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            setenv(KillPoint.variable, "committed:2", 1)
            KillPoint.reach("committed")
            KillPoint.reach("committed")
        }
        await #expect(processExitsWith: .success) {
            setenv(KillPoint.variable, "committed:never", 1)
            KillPoint.reach("committed")
        }
    }
}
