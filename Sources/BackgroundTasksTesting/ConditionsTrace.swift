import DescribedFile
public import Foundation
import ScheduleSimulation
import SchedulingCore

/// Conditions as they changed over time: recorded on a machine, or made up.
///
/// ```swift
/// // bgrun conditions --watch --json > night.jsonl
/// let night = try ConditionsTrace(contentsOf: "night.jsonl")
/// machine.conditions.play(night, on: machine.clock)
/// await machine.advance(by: night.length)
/// ```
///
/// A recording has a line of JSON for each change; ``text`` writes the short form of them, which `bgrun simulate` reads
/// too.
public struct ConditionsTrace: Hashable, Sendable {
    /// From this moment on the conditions are these.
    public struct Change: Hashable, Sendable {
        /// Since the beginning of the trace.
        public var at: Duration
        public var conditions: SimulatedConditions

        public init(at: Duration, _ conditions: SimulatedConditions) {
            self.at = at
            self.conditions = conditions
        }
    }

    /// The date of its beginning.
    public var start: Date
    /// In order of time.
    public private(set) var changes: [Change]

    /// - Parameters:
    ///   - changes: In any order; of two at one time the later one counts.
    ///   - start: The date of its beginning.
    public init(_ changes: [Change] = [], startingAt start: Date = ManualClock.standardStart) {
        self.start = start
        self.changes = Self.sorted(changes)
    }

    /// A recording.
    ///
    /// - Parameter path: A file as `bgrun conditions --watch --json` prints it, or ``write(to:)`` writes it.
    /// - Throws: ``TraceError`` with each line and field that cannot be used.
    public init(contentsOf path: String) throws(TraceError) {
        do throws(FileMistakes) {
            self.init(try RecordedConditions.read(path: path))
        } catch {
            throw TraceError(error)
        }
    }

    /// The text of a recording.
    ///
    /// - Parameters:
    ///   - text: A line for each change.
    ///   - file: What errors call it.
    /// - Throws: ``TraceError`` with each line and field that cannot be used.
    public init(parsing text: String, file: String = "trace") throws(TraceError) {
        do throws(FileMistakes) {
            self.init(try RecordedConditions.parse(text, file: file))
        } catch {
            throw TraceError(error)
        }
    }

    private init(_ lines: [RecordedConditions.Line]) {
        let first = lines.first?.at ?? .zero
        self.init(
            lines.map { Change(at: $0.at - first, SimulatedConditions($0.conditions)) },
            startingAt: Date(timeIntervalSince1970: first.inSeconds))
    }

    /// From its beginning to its last change.
    public var length: Duration { changes.last?.at ?? .zero }

    /// Adds what conditions were at a moment.
    ///
    /// - Parameters:
    ///   - conditions: Nothing is added when they are what they were.
    ///   - time: Since the beginning of the trace.
    public mutating func record(_ conditions: SimulatedConditions, at time: Duration) {
        if changes.last(where: { $0.at <= time })?.conditions == conditions { return }
        changes = Self.sorted(changes + [Change(at: time, conditions)])
    }

    /// A line of JSON for each change, with its time to a millisecond.
    public var text: String {
        let start = Duration.seconds(start.timeIntervalSince1970)
        return changes.map {
            RecordedConditions.Line(at: start + $0.at, conditions: $0.conditions.value).text + "\n"
        }.joined()
    }

    /// Writes ``text`` to a file.
    ///
    /// - Parameter path: Is replaced if it exists.
    /// - Throws: ``TraceError`` with the code `unwritable`.
    public func write(to path: String) throws(TraceError) {
        do {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw TraceError(unwritable: path, because: error)
        }
    }

    private static func sorted(_ changes: [Change]) -> [Change] {
        changes.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }
}
