/// The blocks of a Photoshop image resource list (Adobe Photoshop File Formats Specification, "Image Resource Blocks").
enum PhotoshopResources {
    /// Of the resource that holds IPTC.
    static let iptc = 0x0404

    /// Resources that hold a small picture of the original.
    private static let thumbnails: Set<Int> = [0x0409, 0x040C]
    /// With what a block begins, that of other programs of Adobe's too.
    private static let signatures = ["8BIM", "MeSa", "PHUT", "AgHg", "DCSR"].map { Array($0.utf8) }

    struct Resource {
        var identifier: Int
        /// The whole block.
        var range: Range<Int>
        /// Its data without their padding.
        var data: Range<Int>
    }

    /// The blocks, as far as they can be followed.
    static func list(_ resources: [UInt8]) -> [Resource] {
        var list: [Resource] = []
        var start = 0
        while start + 12 <= resources.count, signatures.contains(Array(resources[start..<start + 4])) {
            let identifier = Int(resources[start + 4]) << 8 | Int(resources[start + 5])
            // A name with its length before it, and then the data, each padded to an even length.
            let sizeStart = start + 6 + (Int(resources[start + 6]) + 2) / 2 * 2
            guard sizeStart + 4 <= resources.count else { break }
            let size = resources[sizeStart..<sizeStart + 4].reduce(0) { $0 << 8 | Int($1) }
            guard size <= resources.count - sizeStart - 4 else { break }
            let end = min(sizeStart + 4 + (size + 1) / 2 * 2, resources.count)
            list.append(
                Resource(identifier: identifier, range: start..<end, data: sizeStart + 4..<sizeStart + 4 + size))
            start = end
        }
        return list
    }

    /// The list without its thumbnails, and what the person should be told; from where it cannot be followed any more, nothing is
    /// kept.
    static func withoutThumbnails(_ resources: [UInt8]) -> (resources: [UInt8], notes: [String]) {
        let all = list(resources)
        let kept = all.filter { !thumbnails.contains($0.identifier) }
        var notes: [String] = []
        if kept.count < all.count { notes.append("Photoshop's thumbnail was left out") }
        // Some writers fill the segment up.
        if resources[(all.last?.range.upperBound ?? 0)...].contains(where: { $0 != 0 }) {
            notes.append("the damaged end of Photoshop's resources was left out")
        }
        return (kept.flatMap { resources[$0.range] }, notes)
    }

    /// What repeats IPTC, EXIF or XMP: their bytes, and a digest of IPTC.
    private static let repeating: Set<Int> = [iptc, 0x0422, 0x0423, 0x0424, 0x0425]

    /// The blocks that repeat nothing of IPTC, EXIF and XMP.
    static func others(_ resources: [UInt8]) -> [UInt8] {
        list(resources).filter { !repeating.contains($0.identifier) }.flatMap { resources[$0.range] }
    }

    /// One block without a name.
    static func resource(_ identifier: Int, _ data: [UInt8]) -> [UInt8] {
        let number = [UInt8(identifier >> 8 & 255), UInt8(identifier & 255), 0, 0]
        let size = [24, 16, 8, 0].map { UInt8(data.count >> $0 & 255) }
        return Array("8BIM".utf8) + number + size + data + (data.count % 2 == 1 ? [0] : [])
    }
}
