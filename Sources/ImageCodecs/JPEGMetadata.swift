/// Sorts a JPEG's segments into metadata, and names what is not carried.
struct JPEGMetadata {
    private var metadata = ImageMetadata()
    private var extended = ExtendedXMP.Parts()
    /// The segment before was EXIF, which may go on.
    private var isWithinEXIF = false

    /// Kinds of segments that are named, and letters of a kind.
    private static let mostNamed = 8
    private static let mostLetters = 16

    /// Takes one segment; the first of each kind counts, but Photoshop's resources, extended XMP and the parts of a long EXIF
    /// block are joined.
    mutating func add(code: Int32, payload: UnsafeBufferPointer<UInt8>) {
        func rest(after prefix: [UInt8]) -> [UInt8]? {
            payload.starts(with: prefix) ? Array(payload.dropFirst(prefix.count)) : nil
        }
        let wasWithinEXIF = isWithinEXIF
        isWithinEXIF = false
        switch code {
        case JPEGSegments.app1:
            if let exif = rest(after: JPEGSegments.exifPrefix), !exif.isEmpty {
                let begins = exif.starts(with: [0x4D, 0x4D, 0, 42]) || exif.starts(with: [0x49, 0x49, 42, 0])
                if wasWithinEXIF, !begins {
                    metadata.exif? += exif
                    isWithinEXIF = true
                } else {
                    isWithinEXIF = metadata.exif == nil
                    keep(exif, as: \.exif, "another EXIF block was left out")
                }
            } else if let xmp = rest(after: JPEGSegments.xmpPrefix), !xmp.isEmpty {
                keep(xmp, as: \.xmp, "another XMP packet was left out")
            } else if let part = rest(after: JPEGSegments.extendedXMPPrefix) {
                extended.add(part)
            }
        case JPEGSegments.app2:
            if let meaning = rest(after: JPEGSegments.gainMapPrefix), !meaning.isEmpty {
                if metadata.gainMapISO == nil { metadata.gainMapISO = meaning }
            }
        case JPEGSegments.app13:
            if let resources = rest(after: JPEGSegments.photoshopPrefix), !resources.isEmpty {
                metadata.iptc = (metadata.iptc ?? []) + resources
            }
        case JPEGSegments.comment:
            if !payload.isEmpty { keep(Array(payload), as: \.comment, "another comment was left out") }
        default:
            break
        }
    }

    private mutating func keep(_ bytes: [UInt8], as part: WritableKeyPath<ImageMetadata, [UInt8]?>, _ note: String) {
        if let first = metadata[keyPath: part] {
            // The same again is not lost.
            if first != bytes, !metadata.leftOut.contains(note) { metadata.leftOut.append(note) }
        } else {
            metadata[keyPath: part] = bytes
        }
    }

    /// What was taken, once all segments were.
    ///
    /// - Parameter file: The whole file, whose other segments are named.
    /// - Returns: The metadata but the profile.
    func joined(of file: UnsafeRawBufferPointer) -> ImageMetadata {
        var metadata = metadata
        metadata.extendedXMP = extended.whole(namedBy: metadata.xmp)
        if !extended.isEmpty, metadata.extendedXMP == nil {
            metadata.leftOut.append("extended XMP was left out, as it is incomplete or the packet does not name it")
        }
        metadata.leftOut += Self.others(in: file)
        return metadata
    }

    /// Sentences on segments that are not read.
    private static func others(in file: UnsafeRawBufferPointer) -> [String] {
        var counts: [(name: String, count: Int)] = []
        var others = 0
        for segment in JPEGSegments.list(file) {
            let payload = UnsafeRawBufferPointer(rebasing: file[segment.payload])
            guard let name = name(segment.code, payload) else { continue }
            if let index = counts.firstIndex(where: { $0.name == name }) {
                counts[index].count += 1
            } else if counts.count < mostNamed {
                counts.append((name, 1))
            } else {
                others += 1
            }
        }
        let sentences = counts.map { name, count in
            count == 1 ? "the segment \(name) was left out" : "\(count) segments \(name) were left out"
        }
        return sentences + (others > 0 ? ["other segments were left out: \(others)"] : [])
    }

    /// nil for what is read or says how the picture is stored.
    private static func name(_ code: Int32, _ payload: UnsafeRawBufferPointer) -> String? {
        func begins(_ prefixes: [UInt8]...) -> Bool { prefixes.contains { payload.starts(with: $0) } }
        guard (0xE0...0xEF).contains(code) else { return nil }
        switch code {
        case JPEGSegments.app0:
            // The sides of a small picture without compression.
            if begins(Array("JFIF\0".utf8)) {
                return payload.count > 14 && payload[12] > 0 && payload[13] > 0 ? "APP0 with the JFIF thumbnail" : nil
            }
        case JPEGSegments.app1:
            if begins(JPEGSegments.exifPrefix, JPEGSegments.xmpPrefix, JPEGSegments.extendedXMPPrefix) { return nil }
        case JPEGSegments.app2:
            // Pictures behind the first one are named by the index that tells of them.
            if begins(JPEGSegments.profilePrefix, JPEGSegments.gainMapPrefix, MultiPictureIndex.prefix) { return nil }
        case JPEGSegments.app13:
            if begins(JPEGSegments.photoshopPrefix) { return nil }
        // What was told the encoder, and the colours' form.
        case 0xEC: if begins(Array("Ducky".utf8)) { return nil }
        case 0xEE: if begins(Array("Adobe".utf8)) { return nil }
        default: break
        }
        let letters = payload.prefix(mostLetters).prefix { (0x21...0x7E).contains($0) }
        let kind = String(decoding: letters, as: UTF8.self)
        return "APP\(code - JPEGSegments.app0)" + (kind.isEmpty ? "" : " \(kind)")
    }
}
