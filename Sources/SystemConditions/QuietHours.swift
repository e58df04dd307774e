import Foundation
import TaskModel

/// Hours of each day in which nothing is to run, e.g. `22:00-07:00`.
package struct QuietHours: Hashable, Sendable {
    /// Minutes after midnight; an end at or before the start is on the next day.
    package let start: Int
    package let end: Int

    /// Reads hours separated by commas.
    ///
    /// - Throws: ``AllowedHoursError`` with code `quietHours`, which names the part that cannot be read.
    package static func parse(_ text: String) throws(AllowedHoursError) -> [QuietHours] {
        var hours: [QuietHours] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            hours.append(try one(part.trimmingCharacters(in: .whitespaces)))
        }
        return hours
    }

    private static func one(_ text: String) throws(AllowedHoursError) -> QuietHours {
        func mistake(_ reason: String) -> AllowedHoursError {
            AllowedHoursError(
                diagnostic: Diagnostic(
                    code: "quietHours", sentence: "The quiet hours \"\(text)\" cannot be used: \(reason).",
                    fix: "Write a start and an end as in 22:00-07:00; separate several by commas."))
        }

        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { throw mistake("a start and an end are needed, with one - between them") }
        guard let start = minutes(ends[0]), start < 1440 else { throw mistake("\"\(ends[0])\" is no time of day") }
        guard let end = minutes(ends[1]) else { throw mistake("\"\(ends[1])\" is no time of day") }
        guard start != end else { throw mistake("start and end are the same") }
        guard end - start != 1440 else { throw mistake("nothing could ever run") }
        return QuietHours(start: start, end: end % 1440)
    }

    /// `7:00` to `24:00` as minutes.
    private static func minutes(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].count), parts[1].count == 2,
            parts.joined().utf8.allSatisfy({ (48...57).contains($0) }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), minute < 60, hour < 24 || hour == 24 && minute == 0
        else { return nil }
        return hour * 60 + minute
    }

    /// Each time that these hours come between two moments, also where a clock is put forward or back.
    func spans(from start: Duration, to end: Duration, timeZone: TimeZone) -> [Range<Duration>] {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        // Hours that began the day before may still last.
        var day = calendar.startOfDay(for: start.date.addingTimeInterval(-86400))
        var spans: [Range<Duration>] = []
        while day < end.date {
            guard let next = calendar.date(byAdding: .day, value: 1, to: day), next > day else { break }
            let lastDay = self.end > self.start ? day : next
            // An hour that the clock leaves out ends or begins where the gap does; of one that comes twice, the first
            // beginning and the last end count.
            if let first = moment(self.start, of: day, .first, calendar),
                let last = moment(self.end, of: lastDay, .last, calendar), first < last
            {
                spans.append(Duration(since1970: first)..<Duration(since1970: last))
            }
            day = calendar.startOfDay(for: next)
        }
        return spans
    }

    private func moment(
        _ minutes: Int, of day: Date, _ repeated: Calendar.RepeatedTimePolicy, _ calendar: Calendar
    ) -> Date? {
        calendar.nextDate(
            after: day.addingTimeInterval(-1),
            matching: DateComponents(hour: minutes / 60, minute: minutes % 60, second: 0),
            matchingPolicy: .nextTime, repeatedTimePolicy: repeated)
    }
}

extension Duration {
    /// Seconds since 1970 as Foundation's date.
    var date: Date { Date(timeIntervalSince1970: self / .seconds(1)) }

    init(since1970 date: Date) {
        self = .milliseconds(Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}
