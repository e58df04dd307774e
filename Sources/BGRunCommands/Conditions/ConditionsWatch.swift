import Glibc
import SystemConditions
import TaskModel

/// `bgrun conditions --watch`: prints what changes, and sleeps in between.
struct ConditionsWatch {
    let reader: ConditionsReader
    let settings: ConditionSettings
    let hours: AllowedHours
    let sampling: Duration?
    let json: Bool

    /// Runs until a signal comes, or nobody reads the output any more.
    ///
    /// - Returns: 0, or the errno that ended it.
    func run() throws -> Int32 {
        let wakeUp = StopSignals.install()
        let monitor = ConditionsMonitor(reader, settings: settings)
        monitor.setSampling(interval: sampling, of: .all)
        monitor.start { _ in StopSignals.wakeUp() }
        defer { monitor.stop() }

        var shown: [ConditionRow]?
        while StopSignals.received == nil {
            var changesAt: Duration?
            if let readings = monitor.lastReadings {
                let now = WallClock.now()
                let allowed = AllowedNow(hours, at: now)
                changesAt = allowed.changesAt.map { $0 - now }
                let rows = ConditionRow.all(readings, allowed)
                let output = try text(rows, since: shown, at: now)
                shown = rows
                let status = StandardOutput.write(output)
                guard status == 0 else { return status == EPIPE ? 0 : status }
            }
            var polled = [
                pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
                // Nothing is asked for but whether its reader has gone.
                pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
            ]
            // At most a day, in case that the clock is set meanwhile.
            let milliseconds = changesAt.map { Int32(min(max(0, ($0 / .milliseconds(1)).rounded(.up)), 86_400_000)) }
            _ = poll(&polled, 2, milliseconds ?? -1)
            if polled[1].revents != 0 { return 0 }
            StopSignals.drain(wakeUp)
        }
        return 0
    }

    private func text(_ rows: [ConditionRow], since shown: [ConditionRow]?, at now: Duration) throws -> String {
        let table = ConditionTable(rows: rows)
        guard let shown else {
            return json
                ? try ConditionsDocument(rows, time: now, changed: rows.map(\.key)).text(pretty: false) : table.text
        }
        let changes = table.changes(since: shown)
        if changes.isEmpty { return "" }
        return json
            ? try ConditionsDocument(rows, time: now, changed: changes.map(\.key)).text(pretty: false)
            : changes.map { "\(LocalTime.seconds(now))  \(table.line($0))" }.joined()
    }
}
