import Foundation
import Locking

/// A named point at which a test's child process kills itself, as a crash or `kill -9` would at that moment.
///
/// ```swift
/// await #expect(processExitsWith: .signal(SIGKILL)) {
///     KillPoint.arm("committed", at: 3)
///     exportEverything()  // calls KillPoint.reach("committed") after each picture
/// }
/// ```
///
/// A child that is started in another way is armed by its environment: `BGRUN_KILL_POINT=committed:3`.
public enum KillPoint {
    private struct Armed {
        var name: String
        /// Times that it is still to be reached.
        var left: Int

        init?(_ text: String) {
            let parts = text.split(separator: ":", maxSplits: 1)
            guard let name = parts.first else { return nil }
            let count = parts.count == 2 ? Int(parts[1]) : 1
            guard let count, count > 0 else { return nil }
            self.name = String(name)
            left = count
        }

        init(name: String, left: Int) {
            self.name = name
            self.left = left
        }
    }

    /// Environment variable that arms a point: `NAME`, or `NAME:COUNT` for the time that counts, 1 for the first.
    public static let variable = "BGRUN_KILL_POINT"

    private static let armed = Lock(ProcessInfo.processInfo.environment[variable].flatMap(Armed.init))

    /// Arms a point of this process; one at a time.
    ///
    /// - Parameters:
    ///   - name: Of the point.
    ///   - count: The time that counts, 1 for the first.
    public static func arm(_ name: String, at count: Int = 1) {
        precondition(count > 0, "a point is reached a first time before any other")
        armed.withLock { $0 = Armed(name: name, left: count) }
    }

    /// Does nothing unless the point is armed and this is the time that counts: then the process is gone.
    ///
    /// - Parameter name: Of the point.
    public static func reach(_ name: String) {
        let isDeadly = armed.withLock { armed in
            guard armed?.name == name else { return false }
            armed?.left -= 1
            return armed?.left == 0
        }
        guard isDeadly else { return }
        kill(getpid(), SIGKILL)
        // The signal may be given to another thread; this one does nothing any more.
        while true { pause() }
    }
}
