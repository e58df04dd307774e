/// The datasets of IPTC (Information Interchange Model, version 4.2) in a list of Photoshop resources.
enum IPTCRecords {
    private static let iptcResource = 0x0404

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
        for resource in PhotoshopResources.list(resources) where resource.identifier == iptcResource {
            kept += datasets(resources[resource.data]).filter { dataset in
                // The envelope says how to read the rest.
                guard dataset.record == 2 else { return dataset.record == 1 }
                if dataset.number == 80, credits.artist != nil { return false }
                if dataset.number == 116, credits.copyright != nil { return false }
                return selection.keeps(group(of: dataset.number))
            }
        }
        for case (let number, let text?) in [(UInt8(80), credits.artist), (116, credits.copyright)] {
            kept.append(Dataset(record: 2, number: number, value: cut(text)[...]))
        }
        guard kept.contains(where: { $0.record == 2 && $0.number != 0 }) else { return nil }
        if !credits.isEmpty, !kept.contains(where: { $0.record == 1 && $0.number == 90 }) {
            // The texts are UTF-8 (ISO 2022: ESC % G).
            kept.append(Dataset(record: 1, number: 90, value: [0x1B, 0x25, 0x47]))
        }
        // Records stand in ascending order; datasets stay in theirs.
        let data = kept.filter { $0.record == 1 }.flatMap(\.bytes) + kept.filter { $0.record != 1 }.flatMap(\.bytes)
        return PhotoshopResources.resource(iptcResource, data)
    }

    /// As much as a copyright notice may have; cut between letters.
    private static func cut(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for character in text {
            let more = Array(String(character).utf8)
            guard bytes.count + more.count <= 128 else { break }
            bytes += more
        }
        return bytes
    }

    private static func group(of dataset: UInt8) -> MetadataGroup {
        switch dataset {
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
            // A set highest bit announces a longer length, which no text of this kind needs.
            guard count < 0x8000, start + 5 + count <= bytes.endIndex else { break }
            datasets.append(
                Dataset(
                    record: bytes[start + 1], number: bytes[start + 2], value: bytes[start + 5..<start + 5 + count]))
            start += 5 + count
        }
        return datasets
    }
}
