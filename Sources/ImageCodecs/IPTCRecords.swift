/// The datasets of IPTC (Information Interchange Model, version 4.2) in a list of Photoshop resources.
enum IPTCRecords {
    /// Datasets of record 2 that are no text: record version, rasterized caption, and the preview's format and bytes.
    private static let binary: Set<UInt8> = [0, 125, 200, 201, 202]
    /// Of one dataset; a set highest bit announces a longer length, which no text of this kind needs.
    private static let mostBytes = 0x7FFF
    /// What the coded character set (1:90) says of UTF-8: without a level, and of level 1 to 3 (ISO 2022).
    private static let utf8 = [[0x1B, 0x25, 0x47]] + [0x47, 0x48, 0x49].map { [0x1B, 0x25, 0x2F, $0] as [UInt8] }

    private struct Dataset {
        var record: UInt8
        var number: UInt8
        var value: ArraySlice<UInt8>

        var bytes: [UInt8] { [0x1C, record, number, UInt8(value.count >> 8), UInt8(value.count & 255)] + value }
    }

    /// What is kept, as a list with that resource alone: others repeat EXIF and XMP, or are about the file as it was.
    ///
    /// - Parameters:
    ///   - resources: May be empty.
    ///   - selection: Datasets stay by their groups.
    ///   - credits: Take the place of by-line and copyright notice.
    /// - Returns: nil where nothing is left to say.
    static func selected(
        _ resources: [UInt8], _ selection: MetadataSelection, _ credits: MetadataCredits
    ) -> [UInt8]? {
        var kept: [Dataset] = []
        for resource in PhotoshopResources.list(resources) where resource.identifier == PhotoshopResources.iptc {
            kept += datasets(resources[resource.data]).filter { dataset in
                // The envelope says how to read the rest.
                guard dataset.record == 2 else { return dataset.record == 1 }
                if dataset.number == 80, credits.artist != nil { return false }
                if dataset.number == 116, credits.copyright != nil { return false }
                return selection.keeps(group(of: dataset.number))
            }
        }
        if !credits.isEmpty { writeAsUTF8(&kept) }
        for case (let number, let text?) in [(UInt8(80), credits.artist), (116, credits.copyright)] {
            // As much as a copyright notice may have.
            kept.append(Dataset(record: 2, number: number, value: cut(text, to: 128)[...]))
        }
        guard kept.contains(where: { $0.record == 2 && $0.number != 0 }) else { return nil }
        // Records stand in ascending order; datasets stay in theirs.
        let data = kept.filter { $0.record == 1 }.flatMap(\.bytes) + kept.filter { $0.record != 1 }.flatMap(\.bytes)
        return PhotoshopResources.resource(PhotoshopResources.iptc, data)
    }

    /// Codes 0x80 to 0x9F of Windows-1252, where Latin-1 has control characters alone; every other code of both is
    /// Unicode's.
    private static let windows = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

    /// Makes the texts UTF-8, and says so once. Where nothing says that they are, what is no UTF-8 is read as Latin-1
    /// with what Windows adds to it, as most writers without a word about it mean.
    private static func writeAsUTF8(_ datasets: inout [Dataset]) {
        let isUTF8 = datasets.contains { $0.record == 1 && $0.number == 90 && utf8.contains(Array($0.value)) }
        for index in datasets.indices where datasets[index].record == 2 && !isUTF8 {
            let value = datasets[index].value
            guard !binary.contains(datasets[index].number), String(validating: value, as: UTF8.self) == nil else {
                continue
            }
            let scalars = value.map { (0x80...0x9F).contains($0) ? windows[Int($0) - 0x80] : Unicode.Scalar($0) }
            let text = String(String.UnicodeScalarView(scalars))
            datasets[index].value = cut(text, to: mostBytes)[...]
        }
        datasets.removeAll { $0.record == 1 && $0.number == 90 }
        let place = datasets.firstIndex { $0.record > 1 || $0.number > 90 } ?? datasets.endIndex
        datasets.insert(Dataset(record: 1, number: 90, value: utf8[0][...]), at: place)
    }

    /// Cut between letters.
    private static func cut(_ text: String, to count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for character in text {
            let more = Array(String(character).utf8)
            guard bytes.count + more.count <= count else { break }
            bytes += more
        }
        return bytes
    }

    private static func group(of dataset: UInt8) -> MetadataGroup {
        switch dataset {
        // Content location and sub-location, as XMP's `LocationShown` and `Location`.
        case 26, 27, 92: .gps
        case 116: .copyright
        case 80, 85, 110, 115, 118, 122: .artist
        case 30, 35, 37, 38, 55, 60, 62, 63: .dates
        case 65, 70: .camera
        case 0: .other
        default: .description
        }
    }

    /// As far as they can be followed.
    private static func datasets(_ bytes: ArraySlice<UInt8>) -> [Dataset] {
        var datasets: [Dataset] = []
        var start = bytes.startIndex
        while start + 5 <= bytes.endIndex, bytes[start] == 0x1C {
            let count = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
            guard count <= mostBytes, start + 5 + count <= bytes.endIndex else { break }
            datasets.append(
                Dataset(
                    record: bytes[start + 1], number: bytes[start + 2], value: bytes[start + 5..<start + 5 + count]))
            start += 5 + count
        }
        return datasets
    }
}
