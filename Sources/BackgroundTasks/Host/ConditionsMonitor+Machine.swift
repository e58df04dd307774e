import Foundation
package import SystemConditions

extension ConditionsMonitor {
    /// Of the machine that this process runs on, or of the one below `BGRUN_SYSTEM_ROOT`.
    ///
    /// - Parameters:
    ///   - outputFolders: Whose volumes are to have room.
    ///   - isBrief: For a process that may be about to end: see ``ConditionsMonitor/init(_:settings:pressureDelay:)``.
    /// - Returns: One that is not started yet.
    package static func ofThisMachine(outputFolders: [String] = [], isBrief: Bool = false) -> ConditionsMonitor {
        let environment = ProcessInfo.processInfo.environment
        let reader = ConditionsReader(root: root, bus: busOfThisMachine)
        let files = PersonFiles(environment: environment)
        let settings = ConditionSettings(
            outputFolders: outputFolders, lowPowerSwitch: files?.lowPowerSwitch, personFiles: files,
            ownProcesses: [Int(ProcessInfo.processInfo.processIdentifier)])
        return ConditionsMonitor(reader, settings: settings, pressureDelay: .seconds(isBrief ? 30 : 1))
    }

    package static var busOfThisMachine: BusAddress {
        .standard(root: root, environment: ProcessInfo.processInfo.environment)
    }

    private static var root: SystemRoot {
        SystemRoot(ProcessInfo.processInfo.environment["BGRUN_SYSTEM_ROOT"] ?? "/")
    }
}
