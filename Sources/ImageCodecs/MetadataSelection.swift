/// Parts of a picture's metadata that a person keeps or leaves out together, in EXIF, XMP and IPTC alike.
package enum MetadataGroup: String, Codable, Hashable, Sendable, CaseIterable {
    /// Where the camera was, and IPTC's locations, which are finer than names of cities and countries.
    case gps
    /// Make, model, serial numbers, lens, exposure, software; and maker notes, which stay only where places, dates, artist and
    /// description do too, as they may tell of those.
    case camera
    case dates
    /// The notice and the terms.
    case copyright
    /// Who made it.
    case artist
    /// Title, caption, keywords, comments, names of places.
    case description
    /// Everything else.
    case other
}

/// Which metadata an output gets of its input's.
///
/// Its text form is `keep`, `strip`, `keep-gps-camera` or `strip+copyright`, with groups in the order of
/// ``MetadataGroup``.
package struct MetadataSelection: RawRepresentable, Codable, Hashable, Sendable {
    private var keepsByDefault: Bool
    /// Groups that are not treated as the default says.
    private var exceptions: Set<MetadataGroup>

    package static let keep = MetadataSelection(keeping: [], orAllBut: true)
    package static let strip = MetadataSelection(keeping: [], orAllBut: false)

    private init(keeping exceptions: Set<MetadataGroup>, orAllBut keepsByDefault: Bool) {
        self.exceptions = exceptions
        self.keepsByDefault = keepsByDefault
    }

    /// Reads `keep`, `strip`, `-gps,-camera` (all but these) or `+copyright,+artist` (these alone); commas may be left
    /// out. nil for anything else.
    package init?(rawValue: String) {
        var rest = rawValue[...]
        var base: Bool?
        for (word, value) in [("keep", true), ("strip", false)] where rest.hasPrefix(word) {
            base = value
            rest = rest.dropFirst(word.count)
        }
        self = .init(keeping: [], orAllBut: base ?? rest.hasPrefix("-"))
        guard base != nil || !rest.isEmpty else { return nil }
        let sign: Character = keepsByDefault ? "-" : "+"
        while let first = rest.first {
            guard first == sign else { return nil }
            let word = rest.dropFirst().prefix { $0.isLetter }
            guard let group = MetadataGroup(rawValue: String(word)) else { return nil }
            exceptions.insert(group)
            rest = rest.dropFirst(1 + word.count)
            if rest.first == "," {
                rest = rest.dropFirst()
                guard !rest.isEmpty else { return nil }
            }
        }
    }

    package var rawValue: String {
        let sign = keepsByDefault ? "-" : "+"
        return (keepsByDefault ? "keep" : "strip")
            + MetadataGroup.allCases.filter(exceptions.contains).map { sign + $0.rawValue }.joined()
    }

    package func keeps(_ group: MetadataGroup) -> Bool { exceptions.contains(group) != keepsByDefault }

    var keepsEverything: Bool { keepsByDefault && exceptions.isEmpty }
    package var keepsNothing: Bool { !keepsByDefault && exceptions.isEmpty }
}
