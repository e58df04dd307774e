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
}
