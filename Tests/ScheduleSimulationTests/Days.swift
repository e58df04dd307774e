import DescribedFile
import Foundation
import ScheduleSimulation
import TaskModel
import Testing

/// Described days of these tests.
enum Days {
    static func path(_ name: String) throws -> String {
        try #require(Bundle.module.path(forResource: name, ofType: nil, inDirectory: "Days"))
    }

    static func read(_ name: String) throws -> DayTrace { try DayTraceReader.read(path: path(name)) }

    /// A day of one program, `org.example.app`, that may do everything, on two cores with one slot.
    static func day(_ rest: String, length: String = "4h") throws -> DayTrace {
        let text = """
            start: 2026-03-02T08:00Z
            length: \(length)
            settings: {slots: 1, cores: 2}
            programs:
              - program: org.example.app
                modes: [refresh, processing, continued]
                identifiers: [org.example.app.fetch, org.example.app.index, org.example.app.clean, org.example.app.job.*]
                grants: [gpu]
            \(rest)
            """
        return try parse(text)
    }

    static func parse(_ text: String) throws -> DayTrace {
        try DayTraceReader.read(DescribedFile.parse(text, file: "day.yml"))
    }

    static func mistakes(_ text: String) -> [FileMistake] {
        do throws(FileMistakes) {
            _ = try DayTraceReader.read(DescribedFile.parse(text, file: "day.yml"))
            return []
        } catch {
            return error.mistakes
        }
    }
}

extension Timeline {
    func job(_ name: String, _ number: Int = 0) throws -> Job {
        let found = jobs.filter { $0.identifier.rawValue == "org.example.app.\(name)" }
        return try #require(found.indices.contains(number) ? found[number] : nil)
    }
}
