import Foundation
import Glibc

/// Which process is meant, also after its number was given to another one.
package struct ProcessIdentity: Codable, Hashable, Sendable {
    package var processID: Int32
    /// Clock ticks from the start of the machine to its own, proc(5).
    package var start: UInt64
    /// Of the run of the machine.
    package var boot: String

    /// - Returns: nil when there is no such process.
    package init?(of processID: Int32) {
        // The start is the twentieth.
        guard let fields = ProcessStatus.fields(of: processID), fields.count > 19, let start = UInt64(fields[19]),
            fields[0] != "Z", fields[0] != "X"
        else { return nil }
        self.processID = processID
        self.start = start
        boot = Self.thisBoot
    }

    package init(processID: Int32, start: UInt64, boot: String) {
        self.processID = processID
        self.start = start
        self.boot = boot
    }

    package var isAlive: Bool { ProcessIdentity(of: processID) == self }

    package static let thisBoot: String = {
        let text = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? ""
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }()
}
