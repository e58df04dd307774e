import ArgumentParser
import Foundation
import Glibc
import TaskModel

/// Shows how far a job is, on standard error.
struct ProgressDisplay: JobAudience {
    enum Mode: String, CaseIterable, ExpressibleByArgument, Sendable {
        /// A live line on a terminal, plain lines elsewhere.
        case auto
        case plain, json, none
    }

    private enum Style {
        case live, plain, json, none

        /// Shortest time between two lines.
        var interval: Duration {
            switch self {
            case .live: .milliseconds(200)
            case .plain: .seconds(5)
            case .json: .seconds(1)
            case .none: .seconds(3600)
            }
        }
    }

    /// One line of `--progress json`.
    private struct Line: Encodable {
        var event = "progress"
        var files: Int
        var filesTotal: Int
        var failures: Int
        var fraction: Double
        var megapixelsPerSecond: Double
        var secondsLeft: [Double]?
        var device: String
    }

    private let style: Style
    private let clock = SuspendingClock()
    private var nextTime: SuspendingClock.Instant
    private var lastLine = ""

    init(_ mode: Mode) {
        switch mode {
        case .auto: style = isatty(STDERR_FILENO) == 1 ? .live : .plain
        case .plain: style = .plain
        case .json: style = .json
        case .none: style = .none
        }
        // A short job needs no plain lines.
        nextTime = style == .plain ? clock.now + style.interval : clock.now
    }

    /// It shows no progress.
    var isQuiet: Bool { style == .none }

    var wantsProgress: Bool { style != .none && clock.now >= nextTime }

    mutating func show(_ progress: ProgressSnapshot, device: String, force: Bool) {
        guard style != .none, force || wantsProgress else { return }
        nextTime = clock.now + style.interval
        switch style {
        case .live:
            let line = Self.fitted(Self.parts(progress, device: device), columns: Self.terminalWidth ?? 80)
            guard line != lastLine else { return }
            lastLine = line
            StandardError.write("\r" + line + "\u{1b}[K")
        case .plain:
            if !force { StandardError.write(Self.text(progress, device: device) + "\n") }
        case .json:
            let left = progress.secondsLeft.map { [Self.rounded($0.lowerBound), Self.rounded($0.upperBound)] }
            let line = Line(
                files: progress.itemsDone, filesTotal: progress.itemsTotal, failures: progress.failures,
                fraction: (progress.fraction * 1e4).rounded() / 1e4,
                megapixelsPerSecond: Self.rounded(progress.megapixelsPerSecond), secondsLeft: left, device: device)
            let text = JSONText.encode(line)
            guard text != lastLine else { return }
            lastLine = text
            StandardError.write(text + "\n")
        case .none:
            break
        }
    }

    /// Waiting for the first line says the same.
    mutating func phase(_ text: String) {}

    /// Ends a live line, so that other text can follow.
    private mutating func end() {
        if case .live = style, !lastLine.isEmpty { StandardError.write("\n") }
        lastLine = ""
    }

    /// A sentence beside the progress.
    mutating func note(_ text: String) {
        if case .json = style {
            return StandardError.write(JSONText.encode(Event(event: "note", text: text)) + "\n")
        }
        end()
        StandardError.write(text.onOneLine + "\n")
    }

    mutating func stopping(_ reason: StopReason, _ text: String) { stopping(reason.code, text) }

    mutating func ended(_ outcome: TaskOutcome, _ summary: WorkSummary, text: String?) {
        ended(outcome: outcome.code, summary: JSONText.encode(summary), text: text)
    }

    /// The job was asked to stop; `reason` is its code.
    mutating func stopping(_ reason: String, _ text: String) {
        guard case .json = style else { return note(text) }
        StandardError.write(JSONText.encode(Event(event: "stopping", reason: reason, text: text)) + "\n")
    }

    /// The job ended; nothing but notes follows.
    ///
    /// - Parameters:
    ///   - outcome: Its code.
    ///   - summary: JSON.
    ///   - text: For a person; nil tells nothing.
    mutating func ended(outcome: String, summary: String?, text: String?) {
        guard case .json = style else {
            end()
            if let text { StandardError.write(text) }
            return
        }
        if outcome.hasPrefix("stopped.") {
            StandardError.write(
                JSONText.encode(Event(event: "stopped", reason: String(outcome.dropFirst("stopped.".count)))) + "\n")
        }
        StandardError.write("{\"event\":\"finished\",\"summary\":\(summary ?? "null")}\n")
    }

    private struct Event: Encodable {
        var event: String
        var reason: String?
        var text: String?
    }

    static func text(_ progress: ProgressSnapshot, device: String) -> String {
        parts(progress, device: device).joined(separator: ", ")
    }

    /// The most important first: a narrow terminal shows fewer.
    private static func parts(_ progress: ProgressSnapshot, device: String) -> [String] {
        let percent = Int(progress.fraction * 100)
        var parts = ["\(percent) %", "\(progress.itemsDone) of \(progress.itemsTotal)"]
        if progress.failures > 0 { parts.append("\(progress.failures) with problems") }
        if let left = progress.secondsLeft, progress.fraction < 1 { parts.append(Self.text(left) + " left") }
        if progress.megapixelsPerSecond > 0 {
            parts.append("\(Int(progress.megapixelsPerSecond.rounded())) MP/s")
        }
        return parts + [device]
    }

    /// A range of times in words, e.g. `2-3 min`; one value where both ends read the same.
    static func text(_ seconds: ClosedRange<Double>) -> String {
        let (unit, name) =
            seconds.upperBound < 90 ? (1.0, "s") : seconds.upperBound < 5400 ? (60.0, "min") : (3600.0, "h")
        let low = Int((seconds.lowerBound / unit).rounded())
        let high = Int((seconds.upperBound / unit).rounded(.up))
        return low == high ? "\(high) \(name)" : "\(low)-\(high) \(name)"
    }

    /// As many whole parts as a line holds.
    private static func fitted(_ parts: [String], columns: Int) -> String {
        var line = ""
        for part in parts {
            let longer = line.isEmpty ? part : line + ", " + part
            if longer.count >= columns { break }
            line = longer
        }
        return line
    }

    private static var terminalWidth: Int? {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
