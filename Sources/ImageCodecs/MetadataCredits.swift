/// Whose picture it is, as the person who exports it says; takes the place of what the input says.
package struct MetadataCredits: Hashable, Sendable {
    package let artist: String?
    package let copyright: String?

    /// Leaves out what no XML can hold, such as control characters, so that EXIF, IPTC and XMP say the same.
    package init(artist: String? = nil, copyright: String? = nil) {
        self.artist = artist.map(Self.writable)
        self.copyright = copyright.map(Self.writable)
    }

    /// The characters that XML has (XML 1.0, production 2).
    private static func writable(_ text: String) -> String {
        let kept = text.unicodeScalars.filter {
            $0.value >= 0x20 ? ![0xFFFE, 0xFFFF].contains($0.value) : [0x09, 0x0A, 0x0D].contains($0.value)
        }
        return String(kept)
    }

    var isEmpty: Bool { artist == nil && copyright == nil }

    /// Of what the input says, `group` is not replaced.
    func leaves(_ group: MetadataGroup, named property: String) -> Bool {
        switch group {
        case .artist: artist == nil || !["dc:creator", "tiff:Artist"].contains(property)
        case .copyright: copyright == nil || !["dc:rights", "tiff:Copyright"].contains(property)
        default: true
        }
    }

    /// A node of RDF that says so; empty where there is nothing to say.
    var node: String {
        guard !isEmpty else { return "" }
        let creator = artist.map {
            "<dc:creator><rdf:Seq><rdf:li>\(Self.escaped($0))</rdf:li></rdf:Seq></dc:creator>"
        }
        let rights = copyright.map {
            "<dc:rights><rdf:Alt><rdf:li xml:lang=\"x-default\">\(Self.escaped($0))</rdf:li></rdf:Alt></dc:rights>"
        }
        return "<rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">"
            + (creator ?? "") + (rights ?? "") + "</rdf:Description>"
    }

    /// Scalar by scalar, as a sign and an accent after it are one `Character`.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            // XML's readers make a plain one a line feed.
            case "\r": "&#xD;"
            default: String(scalar)
            }
        }.joined()
    }
}
