import Glibc

/// Moments as people and programs write them; all are seconds since 1970.
enum LocalTime {
    /// `21 Nov 07:00`, in the local time zone.
    static func minutes(_ moment: Duration) -> String { formatted(moment, "%-d %b %H:%M") }

    /// `07:00:12`, in the local time zone.
    static func seconds(_ moment: Duration) -> String { formatted(moment, "%H:%M:%S") }

    /// `2026-11-21T07:00:12+0100`.
    static func iso8601(_ moment: Duration) -> String { formatted(moment, "%Y-%m-%dT%H:%M:%S%z") }

    private static func formatted(_ moment: Duration, _ format: String) -> String {
        var time = time_t(moment.components.seconds)
        var parts = tm()
        localtime_r(&time, &parts)
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
