/// Whose picture it is, as the person who exports it says; takes the place of what the input says.
package struct MetadataCredits: Hashable, Sendable {
    package var artist: String?
    package var copyright: String?

    package init(artist: String? = nil, copyright: String? = nil) {
        self.artist = artist
        self.copyright = copyright
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

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
