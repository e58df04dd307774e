package import DescribedFile
import SchedulingCore
import TaskModel

/// Reads a described day from its file. Every mistake is noted; nothing is run when there is one.
package struct DayTraceReader {
    static let keys = [
        "title", "start", "length", "settings", "programs", "devices", "requests", "conditions", "recorded",
        "quietHours", "events",
    ]
    /// Longest day that can be described.
    static let maxLength: Duration = .seconds(31 * 86_400)
    /// Most entries, those of repeated requests counted singly.
    static let maxEntries = 200_000

    let file: DescribedFile
    var day: DayTrace

    /// The day that a file describes.
    ///
    /// - Throws: ``FileMistakes`` with every mistake in the file.
    package static func read(path: String) throws(FileMistakes) -> DayTrace {
        try read(DescribedFile.read(path: path), folder: folder(of: path))
    }

    /// - Parameters:
    ///   - file: The described day.
    ///   - folder: Where recordings that it names by a relative path are; ends with a slash unless it is empty.
    /// - Returns: The day.
    /// - Throws: ``FileMistakes`` with every mistake in the file.
    package static func read(_ file: DescribedFile, folder: String = "") throws(FileMistakes) -> DayTrace {
        guard let fields = file.root.fields(keys) else {
            try file.log.check()
            return DayTrace(start: WallTime(sinceEpoch: .zero))
        }
        let recorded = RecordedConditions.read(fields["recorded"], folder: folder)
        var reader = DayTraceReader(
            file: file, day: DayTrace(start: start(fields, recorded: recorded) ?? WallTime(sinceEpoch: .zero)))
        reader.read(fields, recorded: recorded)
        try file.log.check()
        return reader.day
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    private static func start(_ fields: DescribedFields, recorded: [RecordedConditions.Line]) -> WallTime? {
        if fields["start"] == nil, let first = recorded.first {
            return WallTime(sinceEpoch: first.at, offsetSeconds: first.offsetSeconds)
        }
        let fix = "Write e.g. 2026-03-02T08:00Z."
        guard let value = fields.required("start", fix: fix), let text = value.text() else { return nil }
        guard let time = WallTime(text) else {
            value.refuse("notATime", "\"\(text)\" is no date with a time.", fix: fix)
            return nil
        }
        return time
    }

    private mutating func read(_ fields: DescribedFields, recorded: [RecordedConditions.Line]) {
        day.title = fields["title"]?.text() ?? ""
        if let value = fields["length"], let length = value.duration() {
            if length > .zero, length <= Self.maxLength {
                day.length = length
            } else {
                value.refuse("lengthRange", "The day lasts no time, or more than 31 days.", fix: "Write e.g. 48h.")
            }
        }
        if let value = fields["settings"] { readSettings(value) }
        for value in fields["programs"]?.items() ?? [] {
            guard let manifest = DescribedManifest.read(value)?.program else { continue }
            if day.programs.contains(where: { $0.program == manifest.program }) {
                value.refuse("repeatedProgram", "\"\(manifest.program)\" is described twice.", fix: "Keep one.")
            }
            day.programs.append(manifest)
        }
        for value in fields["devices"]?.items() ?? [] { readDevice(value) }
        if let value = fields["quietHours"] { day.blockedHours = quietHours(value) }
        readConditions(fields["conditions"], recorded: recorded, fields["recorded"])
        for value in fields["requests"]?.items() ?? [] { readRequest(value) }
        for value in fields["events"]?.items() ?? [] { readEvent(value) }
        if day.entries.count > Self.maxEntries {
            file.root.refuse(
                "tooManyEntries", "The day has more than \(Self.maxEntries) entries.", fix: "Repeat requests less.")
        }
        // A stable order by time.
        day.entries = day.entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
    }

    private mutating func readSettings(_ value: DescribedValue) {
        let keys = [
            "slots", "cores", "grace", "refreshTime", "processingTime", "overdueAfter", "refreshInterval",
            "allowAutomatic",
        ]
        guard let fields = value.fields(keys) else { return }
        if let count = fields["slots"]?.integer(in: 1...256) { day.settings.cpuSlots = count }
        if let count = fields["cores"]?.integer(in: 1...1_024) { day.settings.cores = count }
        if let time = fields["grace"]?.duration() { day.settings.grace = time }
        if let time = fields["refreshTime"]?.duration() { day.settings.refreshTime = time }
        if let time = fields["processingTime"]?.duration() { day.settings.processingTime = time }
        if let time = fields["overdueAfter"]?.duration() { day.settings.overdueAfter = time }
        if let time = fields["refreshInterval"]?.duration() { day.settings.refresh.initial = time }
        if let allow = fields["allowAutomatic"]?.flag() { day.settings.allowsAutomaticContinued = allow }
    }

    private mutating func readDevice(_ value: DescribedValue) {
        guard let fields = value.fields(["id", "name", "memory", "display"]),
            let id = fields.required("id", fix: "Name the device.")?.text()
        else { return }
        if day.devices.contains(where: { $0.id == id }) {
            value.refuse("repeatedDevice", "\"\(id)\" is described twice.", fix: "Keep one.")
        }
        day.devices.append(
            ComputeDevice(
                id: id, name: fields["name"]?.text() ?? id, memoryBytes: fields["memory"]?.bytes() ?? 8 << 30,
                drawsDisplay: fields["display"]?.flag() ?? false))
    }

    // MARK: Times

    /// A time within the day, since its start.
    func time(_ fields: DescribedFields) -> Duration? {
        guard let value = fields.required("at", fix: Self.timeFix), let time = time(value) else { return nil }
        guard time >= .zero, time < day.length else {
            value.refuse(
                "outsideTheDay", "This time is not within the day.", fix: "Choose another, or a longer length.")
            return nil
        }
        return time
    }

    static let timeFix = "Write a time as 08:30, 08:30 +1d, +2h or 90s."

    /// A time since the start: `08:30` (the first one after the start), `08:30 +1d`, `+2h`, `90s`, or a date with a time.
    func time(_ value: DescribedValue) -> Duration? {
        guard let text = value.text() else { return nil }
        guard let time = Self.time(text, start: day.start) else {
            value.refuse("notATime", "\"\(text)\" is no time.", fix: Self.timeFix)
            return nil
        }
        return time
    }

    /// As `time(_:start:offset:)`, on a clock that is never put forward or back.
    package static func time(_ text: String, start: WallTime) -> Duration? {
        time(text, start: start) { _ in start.offsetSeconds }
    }

    /// - Parameters:
    ///   - text: `08:30`, `08:30 +1d`, `+2h`, `90s`, or a date with a time.
    ///   - start: What lengths count from, and what the clock shows then.
    ///   - offset: Seconds that the clock is ahead of UTC at a moment since 1970.
    /// - Returns: Since the start; nil for what is no time.
    package static func time(_ text: String, start: WallTime, offset: (Duration) -> Int) -> Duration? {
        if let moment = WallTime(text) {
            // Without an offset of its own it is a time on the day's clock.
            let isZoned = text.hasSuffix("Z") || text.dropFirst(11).contains { $0 == "+" || $0 == "-" }
            return isZoned
                ? moment.sinceEpoch - start.sinceEpoch : wait(until: moment.sinceEpoch, start: start, offset: offset)
        }
        let parts = text.split(separator: " ", omittingEmptySubsequences: true)
        if let first = parts.first, let second = WallTime.timeOfDay(first), parts.count <= 2 {
            var more = Duration.zero
            if parts.count == 2 {
                guard parts[1].hasPrefix("+"), let later = Amounts.duration(String(parts[1].dropFirst())) else {
                    return nil
                }
                more = later
            }
            let ahead = (second - start.secondOfDay + 86_400) % 86_400
            let shown = start.sinceEpoch + .seconds(start.offsetSeconds + ahead) + more
            return wait(until: shown, start: start, offset: offset)
        }
        return Amounts.duration(text.hasPrefix("+") ? String(text.dropFirst()) : text)
    }

    /// - Parameters:
    ///   - shown: What the clock is to show, as if it showed UTC. What it shows twice is meant the first time after the
    ///     start, and what it leaves out is as late as if it had not been put forward.
    ///   - start: Where the wait begins.
    ///   - offset: Seconds that the clock is ahead of UTC at a moment since 1970.
    /// - Returns: Since the start.
    private static func wait(until shown: Duration, start: WallTime, offset: (Duration) -> Int) -> Duration {
        // No clock is put forward or back twice within two days.
        let moments = [-86_400, 86_400].map { shown - .seconds(offset(shown + .seconds($0))) }
        let matching = moments.filter { $0 + .seconds(offset($0)) == shown }
        return (matching.first { $0 >= start.sinceEpoch } ?? matching.last ?? moments[0]) - start.sinceEpoch
    }

    /// Hours of each day, as moments of the days that the day touches.
    func quietHours(_ value: DescribedValue) -> [Range<Duration>] {
        var ranges: [Range<Duration>] = []
        for item in value.itemsOrOne() {
            guard let text = item.text() else { continue }
            let ends = text.split(separator: "-").map { WallTime.timeOfDay($0.filter { !$0.isWhitespace }) }
            guard ends.count == 2, let from = ends[0], let to = ends[1], from != to else {
                item.refuse(
                    "quietHours", "\"\(text)\" are no hours.", fix: "Write a start and an end as in 22:00-07:00.")
                continue
            }
            let midnight = day.start.sinceEpoch - .seconds(day.start.secondOfDay)
            let days = Int(day.length.inSeconds / 86_400) + 2
            for number in -1..<days {
                let start = midnight + .seconds(number * 86_400 + from)
                ranges.append(start..<start + .seconds((to - from + 86_400) % 86_400))
            }
        }
        let played = day.start.sinceEpoch..<day.start.sinceEpoch + day.length
        return Self.merged(ranges).filter { $0.overlaps(played) }
    }

    private static func merged(_ ranges: [Range<Duration>]) -> [Range<Duration>] {
        ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
    }
}
