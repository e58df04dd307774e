package import DescribedFile
import Foundation
package import TaskModel

/// Conditions as they were recorded: a line of JSON for each change, as `bgrun conditions --watch --json` prints them,
/// or with the values alone: `{"at": SECONDS SINCE 1970, "power": "battery", ...}`. What a line leaves out was not known.
package enum RecordedConditions {
    package struct Line: Hashable, Sendable {
        /// Since 1970.
        package var at: Duration
        package var offsetSeconds: Int
        package var conditions: Conditions

        package init(at: Duration, offsetSeconds: Int = 0, conditions: Conditions) {
            self.at = at
            self.offsetSeconds = offsetSeconds
            self.conditions = conditions
        }

        /// The line of a recording that says this, with the values alone and without a newline; the time to a millisecond.
        package var text: String {
            var fields = ["\"at\": \(Double((at / .milliseconds(1)).rounded()) / 1_000)"]
            func add(_ key: String, _ value: (some Any)?) {
                guard let value else { return }
                let text = value as? String
                fields.append("\"\(key)\": \(text.map { "\"\($0)\"" } ?? "\(value)")")
            }
            add("power", conditions.power?.rawValue)
            add("batteryPercent", conditions.batteryPercent)
            add("lowPowerMode", conditions.lowPowerMode)
            add("thermal", conditions.thermal.map { "\($0)" })
            add("cpuPressure", conditions.cpuPressure)
            add("ioPressure", conditions.ioPressure)
            add("memoryPressure", conditions.memoryPressure)
            add("availableMemoryBytes", conditions.availableMemoryBytes)
            add("freeDiskBytes", conditions.freeDiskBytes)
            add("network", conditions.network?.rawValue)
            add("userIdle", conditions.userIdle)
            add("foreignGPULoad", conditions.foreignGPULoad)
            return "{" + fields.joined(separator: ", ") + "}"
        }
    }

    private static let maxBytes = 64 << 20

    static func read(_ value: DescribedValue?, folder: String) -> [Line] {
        guard let value, let name = value.text() else { return [] }
        let path = name.hasPrefix("/") ? name : folder + name
        do throws(FileMistakes) {
            return try read(path: path)
        } catch {
            for mistake in error.mistakes {
                let place = mistake.line.map { "\(name):\($0)" } ?? name
                value.refuse(mistake.code, "\(place): \(mistake.sentence)", fix: mistake.fix)
            }
            return []
        }
    }

    /// The lines of a recording in order of time.
    ///
    /// - Throws: ``FileMistakes`` with every line that cannot be used.
    package static func read(path: String) throws(FileMistakes) -> [Line] {
        try parse(DescribedFile.text(path: path, maxBytes: maxBytes), file: path)
    }

    /// The lines of a recorded text in order of time.
    ///
    /// - Throws: ``FileMistakes`` with every line that cannot be used.
    package static func parse(_ text: String, file: String) throws(FileMistakes) -> [Line] {
        var lines: [Line] = []
        var mistakes: [FileMistake] = []
        for (index, content) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if content.allSatisfy(\.isWhitespace) { continue }
            do throws(Problem) {
                lines.append(try line(String(content)))
            } catch {
                mistakes.append(
                    FileMistake(
                        code: "recordedLine", field: error.field, line: index + 1, sentence: error.sentence,
                        fix: "Record with bgrun conditions --watch --json."))
            }
        }
        if !mistakes.isEmpty { throw FileMistakes(file: file, mistakes: mistakes) }
        return lines.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    private struct Problem: Error {
        var field: String
        var sentence: String
    }

    private static func line(_ text: String) throws(Problem) -> Line {
        guard let object = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] else {
            throw Problem(field: "", sentence: "The line is no JSON object.")
        }
        var time: WallTime?
        if let seconds = object["at"] as? Double, (0..<1e11).contains(seconds) {
            time = WallTime(sinceEpoch: .milliseconds(Int64((seconds * 1_000).rounded())))
        } else if let text = object["time"] as? String {
            time = WallTime(text)
        }
        guard let time else {
            throw Problem(field: "at", sentence: "The line has no time.")
        }
        let list = object["conditions"] as? [String: Any]
        func value(_ key: String) -> Any? {
            let found = list.map { ($0[key] as? [String: Any])?["value"] } ?? object[key]
            return found is NSNull || found as? String == "unknown" ? nil : found
        }
        func read<Value>(_ key: String, _ convert: (Any) -> Value?) throws(Problem) -> Value? {
            guard let raw = value(key) else { return nil }
            guard let value = convert(raw) else {
                throw Problem(field: key, sentence: "\"\(raw)\" is no value of \(key).")
            }
            return value
        }
        let percentage = { (raw: Any) in (raw as? Double).flatMap { (0...100).contains($0) ? $0 : nil } }
        let bytes = { (raw: Any) in (raw as? Int).flatMap { $0 >= 0 ? $0 : nil } }
        var conditions = Conditions()
        conditions.power = try read("power") { ($0 as? String).flatMap(Conditions.PowerSource.init(rawValue:)) }
        conditions.batteryPercent = try read("batteryPercent", percentage)
        conditions.lowPowerMode = try read("lowPowerMode") { $0 as? Bool }
        conditions.thermal = try read("thermal") { raw in
            Conditions.ThermalState.allCases.first { "\($0)" == raw as? String || $0.rawValue == raw as? Int }
        }
        conditions.cpuPressure = try read("cpuPressure", percentage)
        conditions.ioPressure = try read("ioPressure", percentage)
        conditions.memoryPressure = try read("memoryPressure", percentage)
        conditions.availableMemoryBytes = try read("availableMemoryBytes", bytes)
        conditions.freeDiskBytes = try read("freeDiskBytes", bytes)
        conditions.network = try read("network") { ($0 as? String).flatMap(Conditions.Network.init(rawValue:)) }
        conditions.userIdle = try read("userIdle") { $0 as? Bool }
        conditions.foreignGPULoad = try read("foreignGPULoad", percentage)
        return Line(at: time.sinceEpoch, offsetSeconds: time.offsetSeconds, conditions: conditions)
    }
}
