/// The names that tell apart what JPEG application segments carry.
enum JPEGSegments {
    static let app1: Int32 = 0xE1
    static let app13: Int32 = 0xED
    static let comment: Int32 = 0xFE
    static let exifPrefix = Array("Exif\0\0".utf8)
    static let xmpPrefix = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    static let extendedXMPPrefix = Array("http://ns.adobe.com/xmp/extension/\0".utf8)
    static let photoshopPrefix = Array("Photoshop 3.0\0".utf8)
    /// Most payload bytes of one segment, its prefix included.
    static let capacity = 65_533

    /// Some writers put JPEG's framing into containers that have none.
    static func withoutExifPrefix(_ exif: [UInt8]) -> [UInt8] {
        exif.starts(with: exifPrefix) ? Array(exif.dropFirst(exifPrefix.count)) : exif
    }

    /// Sorts one segment into `metadata`; the first of each kind counts, but Photoshop resources are joined.
    static func add(
        code: Int32, payload: UnsafeBufferPointer<UInt8>, to metadata: inout ImageMetadata, notes: inout [String]
    ) {
        func rest(after prefix: [UInt8]) -> [UInt8]? {
            payload.starts(with: prefix) ? Array(payload.dropFirst(prefix.count)) : nil
        }
        switch code {
        case app1:
            if let exif = rest(after: exifPrefix) {
                if metadata.exif == nil, !exif.isEmpty { metadata.exif = exif }
            } else if let xmp = rest(after: xmpPrefix) {
                if metadata.xmp == nil, !xmp.isEmpty { metadata.xmp = xmp }
            } else if payload.starts(with: extendedXMPPrefix) {
                let note = "extended XMP was left out"
                if !notes.contains(note) { notes.append(note) }
            }
        case app13:
            if let resources = rest(after: photoshopPrefix), !resources.isEmpty {
                metadata.iptc = (metadata.iptc ?? []) + resources
            }
        case comment:
            if metadata.comment == nil, !payload.isEmpty { metadata.comment = Array(payload) }
        default:
            break
        }
    }
}
