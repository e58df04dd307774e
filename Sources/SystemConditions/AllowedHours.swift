package import Foundation
package import TaskModel

/// When work is allowed by the clock (rule 51): not in quiet hours, and not while power costs more than the limit.
package struct AllowedHours: Hashable, Sendable {
    package var quietHours: [QuietHours]
    package var prices: PriceFile?

    package init(quietHours: [QuietHours] = [], prices: PriceFile? = nil) {
        self.quietHours = quietHours
        self.prices = prices
    }

    /// The spans in which work is held back, seconds since 1970, in order and apart from each other.
    ///
    /// - Parameters:
    ///   - start: A moment; a span that holds it is given with its real beginning.
    ///   - days: How far to look ahead.
    ///   - timeZone: Where quiet hours are meant; nil for the machine's as it is set now.
    /// - Returns: What touches those days, uncut.
    package func blocked(from start: Duration, days: Int, timeZone: TimeZone? = nil) -> [Range<Duration>] {
        precondition(days > 0, "nothing lies in no days")
        let end = start + .seconds(86400 * days)
        var spans = prices?.blocked ?? []
        if !quietHours.isEmpty {
            let timeZone = timeZone ?? .asSetNow
            spans += quietHours.flatMap { $0.spans(from: start, to: end, timeZone: timeZone) }
        }
        var merged: [Range<Duration>] = []
        for span in spans.sorted(by: { $0.lowerBound < $1.lowerBound })
        where span.upperBound > start && span.lowerBound < end {
            if let last = merged.last, span.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, span.upperBound)
            } else {
                merged.append(span)
            }
        }
        return merged
    }

    /// The first moment from `time` on that lies in none of the spans.
    package static func nextAllowed(from time: Duration, blocked: [Range<Duration>]) -> Duration {
        blocked.first { $0.contains(time) }?.upperBound ?? time
    }
}

extension TimeZone {
    /// The machine's. `current` stays the one that was found first, also after the machine has been given another.
    fileprivate static var asSetNow: TimeZone {
        NSTimeZone.resetSystemTimeZone()
        return .current
    }
}

/// What is wrong with quiet hours or a price file.
package struct AllowedHoursError: Error, Hashable {
    /// Its codes are `quietHours`, `priceFile`, `priceFileMissing` and `priceEntry`.
    package var diagnostic: Diagnostic
}
