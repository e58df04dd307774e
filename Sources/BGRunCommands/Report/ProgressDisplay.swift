import ArgumentParser
import Foundation
import Glibc
import TaskModel

/// Shows how far a job is, on standard error.
struct ProgressDisplay {
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

    mutating func show(_ progress: ProgressSnapshot, device: String, force: Bool) {
        guard style != .none, force || clock.now >= nextTime else { return }
        nextTime = clock.now + style.interval
        switch style {
        case .live:
            let line = Self.text(progress, device: device)
            guard line != lastLine else { return }
            lastLine = line
            StandardError.write("\r" + Self.fitted(line) + "\u{1b}[K")
        case .plain:
            if !force { StandardError.write(Self.text(progress, device: device) + "\n") }
        case .json:
            let left = progress.secondsLeft.map { [Self.rounded($0.lowerBound), Self.rounded($0.upperBound)] }
            let line = Line(
                files: progress.itemsDone, filesTotal: progress.itemsTotal, failures: progress.failures,
                fraction: (progress.fraction * 1e4).rounded() / 1e4,
                megapixelsPerSecond: Self.rounded(progress.megapixelsPerSecond), secondsLeft: left, device: device)
            StandardError.write(JSONText.encode(line) + "\n")
        case .none:
            break
        }
    }

    /// Ends a live line, so that other text can follow.
    mutating func end() {
        if case .live = style, !lastLine.isEmpty { StandardError.write("\n") }
        lastLine = ""
    }

    static func text(_ progress: ProgressSnapshot, device: String) -> String {
        let percent = Int(progress.fraction * 100)
        var parts = ["\(percent) %", "\(progress.itemsDone) of \(progress.itemsTotal)"]
        if progress.megapixelsPerSecond > 0 {
            parts.append("\(Int(progress.megapixelsPerSecond.rounded())) MP/s")
        }
        if let left = progress.secondsLeft, progress.fraction < 1 { parts.append(Self.text(left) + " left") }
        parts.append(device)
        if progress.failures > 0 { parts.append("\(progress.failures) with problems") }
        return parts.joined(separator: ", ")
    }

    /// A range of times in words, e.g. `2-3 min`; one value where both ends read the same.
    static func text(_ seconds: ClosedRange<Double>) -> String {
        let (unit, name) =
            seconds.upperBound < 90 ? (1.0, "s") : seconds.upperBound < 5400 ? (60.0, "min") : (3600.0, "h")
        let low = Int((seconds.lowerBound / unit).rounded())
        let high = Int((seconds.upperBound / unit).rounded(.up))
        return low == high ? "\(high) \(name)" : "\(low)-\(high) \(name)"
    }

    private static func fitted(_ line: String) -> String {
        String(line.prefix(max(20, (terminalWidth ?? 80) - 1)))
    }

    private static var terminalWidth: Int? {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}

/// Text for a person goes to standard error; standard output is for what was asked for.
enum StandardError {
    static func write(_ text: String) {
        // A closed terminal must not end the job.
        var text = text
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
