import Foundation
package import SystemConditions

extension ConditionsMonitor {
    /// Of the machine that this process runs on, or of the one below `BGRUN_SYSTEM_ROOT`.
    package static func ofThisMachine() -> ConditionsMonitor {
        let environment = ProcessInfo.processInfo.environment
        let root = SystemRoot(environment["BGRUN_SYSTEM_ROOT"] ?? "/")
        let reader = ConditionsReader(root: root, bus: .standard(root: root, environment: environment))
        let settings = ConditionSettings(
            lowPowerSwitch: LowPowerSwitch.path(environment: environment),
            ownProcesses: [Int(ProcessInfo.processInfo.processIdentifier)])
        return ConditionsMonitor(reader, settings: settings)
    }
}
