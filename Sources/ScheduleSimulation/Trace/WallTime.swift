/// A moment on a wall clock somewhere.
package struct WallTime: Hashable, Sendable {
    /// Since 1970 in UTC.
    package var sinceEpoch: Duration
    /// Seconds that the clock is ahead of UTC.
    package var offsetSeconds: Int

    package init(sinceEpoch: Duration, offsetSeconds: Int = 0) {
        self.sinceEpoch = sinceEpoch
        self.offsetSeconds = offsetSeconds
    }

    /// `2026-03-02T08:00`, with seconds or without, with `Z`, `+01:00`, `+0100` or nothing for UTC.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let parts = Self.parts(bytes) else { return nil }
        let days = Self.days(year: parts.year, month: parts.month, day: parts.day)
        let seconds = days * 86_400 + parts.hour * 3_600 + parts.minute * 60 + parts.second - parts.offset
        self.init(sinceEpoch: .seconds(seconds), offsetSeconds: parts.offset)
    }

    /// `HH:MM` or `HH:MM:SS` as seconds of the day.
    package static func timeOfDay(_ text: some StringProtocol) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts.allSatisfy({ (1...2).contains($0.utf8.count) }) else { return nil }
        let numbers = parts.compactMap { part in part.utf8.allSatisfy { (48...57).contains($0) } ? Int(part) : nil }
        guard numbers.count == parts.count, numbers[0] < 24, numbers.dropFirst().allSatisfy({ $0 < 60 }) else {
            return nil
        }
        return numbers[0] * 3_600 + numbers[1] * 60 + (numbers.count > 2 ? numbers[2] : 0)
    }

    /// Seconds since midnight on the clock.
    package var secondOfDay: Int { Self.modulo(local, 86_400) }

    package func advanced(by time: Duration) -> WallTime {
        WallTime(sinceEpoch: sinceEpoch + time, offsetSeconds: offsetSeconds)
    }

    /// `2026-03-02 08:00`.
    package var text: String {
        let second = secondOfDay
        let date = Self.date(days: (local - second) / 86_400)
        return "\(date.year)-\(Self.two(date.month))-\(Self.two(date.day)) \(clock)"
    }

    /// `08:00`.
    package var clock: String { "\(Self.two(secondOfDay / 3_600)):\(Self.two(secondOfDay / 60 % 60))" }

    /// `08:00:30`.
    package var clockWithSeconds: String { "\(clock):\(Self.two(secondOfDay % 60))" }

    private var local: Int { Int(sinceEpoch.components.seconds) + offsetSeconds }

    private struct Parts {
        var (year, month, day) = (0, 0, 0)
        var (hour, minute, second) = (0, 0, 0)
        var offset = 0
    }

    private static func parts(_ bytes: [UInt8]) -> Parts? {
        guard bytes.count >= 16, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " "), let year = number(bytes[0..<4]),
            let month = number(bytes[5..<7]), (1...12).contains(month), let day = number(bytes[8..<10])
        else { return nil }
        let rest = String(decoding: bytes[11...], as: UTF8.self)
        let time = rest.prefix { $0 != "Z" && $0 != "+" && $0 != "-" }
        guard let second = timeOfDay(time), let offset = offset(rest.dropFirst(time.count)),
            (1970...9999).contains(year),
            (1...31).contains(day), date(days: days(year: year, month: month, day: day)) == (year, month, day)
        else { return nil }
        return Parts(
            year: year, month: month, day: day, hour: second / 3_600, minute: second / 60 % 60, second: second % 60,
            offset: offset)
    }

    private static func offset(_ text: Substring) -> Int? {
        if text.isEmpty || text == "Z" { return 0 }
        let digits = Array(text.dropFirst().filter { $0 != ":" }.utf8)
        guard digits.count == 4, let hours = number(digits[0..<2]), let minutes = number(digits[2..<4]), hours < 15,
            minutes < 60
        else { return nil }
        return (text.first == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.allSatisfy { (48...57).contains($0) } ? digits.reduce(0) { $0 * 10 + Int($1 - 48) } : nil
    }

    /// Days since 1970 of a date in the Gregorian calendar, years starting in March so that the leap day comes last.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * marchYear + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
    }

    private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
        var year = 1970 + days / 366
        while self.days(year: year + 1, month: 1, day: 1) <= days { year += 1 }
        var month = 1
        while month < 12, self.days(year: year, month: month + 1, day: 1) <= days { month += 1 }
        return (year, month, days - self.days(year: year, month: month, day: 1) + 1)
    }

    private static func modulo(_ value: Int, _ divisor: Int) -> Int {
        (value % divisor + divisor) % divisor
    }

    private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
