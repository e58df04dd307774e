/// Something that a test has happen to a host while it runs (rule 99); days that are only played are described in files.
package struct Simulation: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// A request that waits starts now, whatever its conditions and the room.
        case launch
        /// A running task is asked to end, for a reason of choice.
        case expire
        /// The process of a job is gone without a word, as when a driver takes it along.
        case crash
        /// The process of a job does not answer any more, as when a driver hangs.
        case hang
        /// A condition no longer holds, or holds again, whatever is measured.
        case lose, meet
        /// A condition is what is measured again.
        case measure
        /// A device fails: whatever runs on it loses it.
        case unplug
    }

    package var kind: Kind
    /// The identifier of a task or the number of a job; a condition; the name of a device.
    package var target: String
    /// Of an expiration, `simulated` where there is none.
    package var reason: StopReason?

    package init(_ kind: Kind, _ target: String, reason: StopReason? = nil) {
        self.kind = kind
        self.target = target
        self.reason = reason
    }

    /// Environment variable that lets a host be told what to take for true.
    package static let variable = "BGRUN_SIMULATION"

    /// Whether this process lets itself be told so.
    package static func isAllowed(_ environment: [String: String]) -> Bool { environment[variable] == "1" }
}
