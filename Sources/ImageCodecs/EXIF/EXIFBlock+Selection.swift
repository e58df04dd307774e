extension EXIFBlock {
    /// Windows shows its own author before the artist.
    private static let windowsAuthor = 0x9C9D
    private static let artist = 0x013B
    private static let copyright = 0x8298

    /// Values of a form of their own, in which anything may stand: the maker note, Adobe's note in DNG, XMP, IPTC, Photoshop's
    /// resources and layers, and further directories.
    static let opaque: Set<Int> = [makerNote, 0xC634, 0x02BC, 0x83BB, 0x8649, 0x935C, 0x014A]

    /// What an opaque value may tell.
    private static let groupsOfOpaque: [MetadataGroup] = [.gps, .camera, .dates, .artist, .description]

    /// The parts of a block that a person keeps, with the credits that they give.
    ///
    /// An opaque value stays only where all that it may tell is kept; without it the rest is laid out anew, so that nothing of what
    /// was taken out is left anywhere.
    ///
    /// - Parameters:
    ///   - bytes: The block; nil for none.
    ///   - selection: What stays.
    ///   - credits: Take the place of artist and copyright notice.
    /// - Returns: nil where nothing is left; and sentences on what was left out though it was not asked for.
    static func selected(
        _ bytes: [UInt8]?, _ selection: MetadataSelection, _ credits: MetadataCredits
    ) -> (block: [UInt8]?, notes: [String]) {
        var notes: [String] = []
        var block = EXIFBlock()
        if let bytes, !selection.keepsNothing {
            if let read = EXIFBlock(bytes) {
                let keepsOpaque = groupsOfOpaque.allSatisfy(selection.keeps)
                block = keepsOpaque ? read.without(selection) : read.laidOutAnew(selection, &notes)
            } else {
                notes.append("the damaged EXIF block was left out")
            }
        }
        if let artist = credits.artist {
            block.remove(in: .first) { $0.tag == windowsAuthor }
            block.setText(Self.artist, artist)
        }
        if let copyright = credits.copyright { block.setText(Self.copyright, copyright) }
        return (block.isEmpty ? nil : block.bytes, notes)
    }

    private func without(_ selection: MetadataSelection) -> EXIFBlock {
        var copy = self
        for directory in Directory.allCases {
            copy.remove(in: directory) { slot in
                !Self.isPointer(slot.tag) && !selection.keeps(Self.group(of: slot.tag, directory))
            }
        }
        return copy
    }

    private func laidOutAnew(_ selection: MetadataSelection, _ notes: inout [String]) -> EXIFBlock {
        var layout = EXIFLayout(isLittle: isLittle)
        func fields(_ directory: Directory) -> [EXIFLayout.Field] {
            slots(in: directory).compactMap { slot in
                let isLeft = slot.type == 13 || Self.isPointer(slot.tag) || Self.opaque.contains(slot.tag)
                let isKept = selection.keeps(Self.group(of: slot.tag, directory))
                guard let value = slot.value, isKept, !isLeft else { return nil }
                return EXIFLayout.Field(tag: slot.tag, type: slot.type, count: slot.count, data: Array(bytes[value]))
            }
        }
        layout.first = fields(.first)
        layout.camera = fields(.camera)
        layout.place = fields(.place)
        layout.interoperability = fields(.interoperability)
        if selection.keeps(.camera), !slots(in: .camera, tag: Self.makerNote).isEmpty {
            notes.append("the maker note was left out, as it may tell what was taken out")
        }
        // Values that many entries share would be copied for each.
        let size = [layout.first, layout.camera, layout.place, layout.interoperability]
            .joined().reduce(0) { $0 + $1.data.count }
        let most = max(layout.first.count, layout.camera.count, layout.place.count, layout.interoperability.count)
        // With room for pointers to the others.
        guard size <= bytes.count + 1 << 16, most <= Self.mostSlots - 2 else {
            notes.append("the damaged EXIF block was left out")
            return EXIFBlock()
        }
        return layout.isEmpty ? EXIFBlock() : EXIFBlock(layout.block()) ?? EXIFBlock()
    }

    private static func isPointer(_ tag: Int) -> Bool {
        [exifPointer, gpsPointer, interoperabilityPointer].contains(tag)
    }

    /// Which part of the metadata an entry belongs to.
    static func group(of tag: Int, _ directory: Directory) -> MetadataGroup {
        if directory == .place { return .gps }
        switch tag {
        case 0x0132, 0x9003, 0x9004, 0x9010...0x9012, 0x9290...0x9292: return .dates
        case copyright: return .copyright
        // Owner's name, and photographer and editor (Exif 3.0).
        case artist, windowsAuthor, 0xA430, 0xA437, 0xA438: return .artist
        // Names of document and page, description, comment, title (Exif 3.0), and Windows' title, comment, keywords, subject and ratings.
        case 0x010D, 0x010E, 0x011D, 0x9286, 0xA436, 0x9C9B, 0x9C9C, 0x9C9E, 0x9C9F, 0x4746, 0x4749: return .description
        // Make, model, software, computer, and what DNG says of the camera: model, serial number, lens.
        case 0x010F, 0x0110, 0x0131, 0x013C, 0xC614, 0xC615, 0xC62F, 0xC630: return .camera
        // Versions, the components' order, colour space and size.
        case 0x9000, 0x9101, 0xA000...0xA003: return .other
        // What is left there is about how it was taken.
        default: return directory == .camera ? .camera : .other
        }
    }
}
