import Foundation
package import SystemConditions

extension ConditionsMonitor {
    /// Of the machine that this process runs on, or of the one below `BGRUN_SYSTEM_ROOT`.
    ///
    /// - Parameter outputFolders: Whose volumes are to have room.
    /// - Returns: One that is not started yet.
    package static func ofThisMachine(outputFolders: [String] = []) -> ConditionsMonitor {
        let environment = ProcessInfo.processInfo.environment
        let reader = ConditionsReader(root: root, bus: busOfThisMachine)
        let files = PersonFiles(environment: environment)
        let settings = ConditionSettings(
            outputFolders: outputFolders, lowPowerSwitch: files?.lowPowerSwitch, personFiles: files,
            ownProcesses: [Int(ProcessInfo.processInfo.processIdentifier)])
        return ConditionsMonitor(reader, settings: settings)
    }

    package static var busOfThisMachine: BusAddress {
        .standard(root: root, environment: ProcessInfo.processInfo.environment)
    }

    private static var root: SystemRoot {
        SystemRoot(ProcessInfo.processInfo.environment["BGRUN_SYSTEM_ROOT"] ?? "/")
    }
}
