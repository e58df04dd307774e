/// What becomes of the matches that text is split at. Names are those of the file.
enum SplitBehavior: String, Sendable {
    case removed = "Removed"
    case isolated = "Isolated"
    case mergedWithPrevious = "MergedWithPrevious"
    case mergedWithNext = "MergedWithNext"
    case contiguous = "Contiguous"

    /// - Parameters:
    ///   - text: What is split.
    ///   - matches: In their order, without overlap.
    ///   - inverted: What lies between the matches counts as the matches.
    /// - Returns: The parts, none empty.
    func split(
        _ text: ArraySlice<Unicode.Scalar>, at matches: [Range<Int>], inverted: Bool = false
    ) -> [ArraySlice<Unicode.Scalar>] {
        var segments: [(range: Range<Int>, isMatch: Bool)] = []
        var place = text.startIndex
        for match in matches {
            if place < match.lowerBound { segments.append((place..<match.lowerBound, inverted)) }
            if !match.isEmpty { segments.append((match, !inverted)) }
            place = match.upperBound
        }
        if place < text.endIndex { segments.append((place..<text.endIndex, inverted)) }
        return ranges(segments).map { text[$0] }
    }

    private func ranges(_ segments: [(range: Range<Int>, isMatch: Bool)]) -> [Range<Int>] {
        switch self {
        case .isolated: return segments.map(\.range)
        case .removed: return segments.filter { !$0.isMatch }.map(\.range)
        case .contiguous:
            return joined(segments) { $0 == $1 }
        case .mergedWithPrevious:
            return joined(segments) { before, match in match && !before }
        case .mergedWithNext:
            return joined(segments) { before, match in before && !match }
        }
    }

    /// Joins neighbours where `join` says so of what they are.
    private func joined(
        _ segments: [(range: Range<Int>, isMatch: Bool)], _ join: (_ before: Bool, _ isMatch: Bool) -> Bool
    ) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var before: Bool?
        for (range, isMatch) in segments {
            if let before, let last = ranges.last, join(before, isMatch) {
                ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
            } else {
                ranges.append(range)
            }
            before = isMatch
        }
        return ranges
    }
}
