import Foundation
import ServiceAPI
import TaskModel

extension JobDocument {
    /// The title, else the identifier, in one line that does nothing to a terminal.
    var shownTitle: String {
        (title.isEmpty ? identifier : title).onOneLine
    }
}

/// Jobs as a table and as lines for one of them.
enum JobText {
    static func table(_ jobs: [JobDocument]) -> String {
        let rows = jobs.map { job in
            ["\(job.id)", state(job), priority(job), progress(job), job.shownTitle]
        }
        let head = ["ID", "STATE", "PRIORITY", "PROGRESS", "TITLE"]
        let widths = head.indices.dropLast().map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        return ([head] + rows).map { row in
            let columns = zip(row, widths).map { text, width in
                text + String(repeating: " ", count: width - text.count) + "  "
            }
            return columns.joined() + row[widths.count] + "\n"
        }.joined()
    }

    static func state(_ job: JobDocument) -> String {
        guard job.state == .ended, let outcome = job.outcome else { return job.state.rawValue }
        return outcome
    }

    private static func priority(_ job: JobDocument) -> String { job.state.isActive ? job.priority.rawValue : "" }

    static func progress(_ job: JobDocument) -> String {
        if let progress = job.progress, progress.itemsTotal > 0 {
            return "\(Int(progress.fraction * 100)) %, \(progress.itemsDone) of \(progress.itemsTotal)"
        }
        if let progress = job.progress, progress.itemsDone > 0 { return "\(progress.itemsDone)" }
        if let phase = job.phase { return phase }
        return job.fraction.map { "\(Int($0 * 100)) %" } ?? ""
    }

    /// Everything about one job.
    static func details(_ job: JobDocument) -> String {
        var lines = ["\(job.id)  \(job.shownTitle)"]
        func line(_ name: String, _ text: String?) {
            guard let text, !text.isEmpty else { return }
            lines.append("  " + name.padding(toLength: 13, withPad: " ", startingAt: 0) + text)
        }
        line("state", state(job))
        line("progress", progress(job))
        if job.state.isActive { line("priority", job.priority.rawValue + (job.priorityTier.map { " (\($0))" } ?? "")) }
        if let limit = job.processorLimit {
            line("held back", "to \(String(format: "%.2f", limit)) processors: others use the rest")
        }
        if let terms = job.terms {
            line(
                "chunks",
                "\(Int(terms.chunkMilliseconds)) ms, \(terms.concurrency) at once, "
                    + "\(Int((terms.dutyCycle * 100).rounded())) % of the time")
        }
        line("device", job.device)
        if job.attempt > 1 { line("attempt", "\(job.attempt)") }
        line("submitted", moment(job.submitted))
        line("started", job.started.map(moment))
        line("ended", job.ended.map(moment))
        line("status", job.status.map { "\($0)" })
        if job.processorSeconds > 0 {
            line("processor", TimeSpan(duration: .seconds(job.processorSeconds)).description)
        }
        line("process", job.process.map { "\($0)" })
        line("command", job.arguments.joined(separator: " "))
        line("folder", job.folder)
        line("identifier", job.identifier)
        if job.state == .ended, job.isResumable { line("resume", "bgrun resume \(job.id)") }
        lines += reasons(job)
        if let text = job.text, !text.isEmpty { lines.append(text.trimmingCharacters(in: .newlines)) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Why it does not run now, and what it has waited for.
    static func reasons(_ job: JobDocument) -> [String] {
        var lines: [String] = []
        for reason in job.reasons {
            lines.append("  \(reason.code): \(reason.sentence)")
            if let measured = reason.measured {
                lines.append("    measured \(measured)" + (reason.threshold.map { ", needs \($0)" } ?? ""))
            } else if let threshold = reason.threshold {
                lines.append("    needs \(threshold)")
            }
            if !reason.holders.isEmpty { lines.append("    held by \(reason.holders.joined(separator: ", "))") }
            lines.append("    what helps: \(reason.fix)")
            if let earliest = reason.earliest { lines.append("    can end at \(moment(earliest))") }
        }
        let waits = job.waited.filter { $0.seconds >= 1 }.map { wait in
            "\(wait.code) \(TimeSpan(duration: .seconds(wait.seconds.rounded())))"
        }
        if !waits.isEmpty { lines.append("  waited for   " + waits.joined(separator: ", ")) }
        return lines
    }

    private static func moment(_ seconds: Double) -> String { LocalTime.minutes(.seconds(seconds)) }
}
