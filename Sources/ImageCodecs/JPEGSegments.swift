/// The names that tell apart what JPEG application segments carry.
enum JPEGSegments {
    static let app0: Int32 = 0xE0
    static let app1: Int32 = 0xE1
    static let app2: Int32 = 0xE2
    static let app13: Int32 = 0xED
    static let comment: Int32 = 0xFE
    static let exifPrefix = Array("Exif\0\0".utf8)
    static let xmpPrefix = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    static let extendedXMPPrefix = Array("http://ns.adobe.com/xmp/extension/\0".utf8)
    /// ISO 21496-1, annex C: of the picture and of its gain map.
    static let gainMapPrefix = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)
    static let photoshopPrefix = Array("Photoshop 3.0\0".utf8)
    static let profilePrefix = Array("ICC_PROFILE\0".utf8)
    /// Most payload bytes of one segment, its prefix included.
    static let capacity = 65_533

    /// Some writers put JPEG's framing into containers that have none.
    static func withoutExifPrefix(_ exif: [UInt8]) -> [UInt8] {
        exif.starts(with: exifPrefix) ? Array(exif.dropFirst(exifPrefix.count)) : exif
    }

    /// The segments before the first scan with the places of their payloads.
    static func list(_ file: UnsafeRawBufferPointer) -> [(code: Int32, payload: Range<Int>)] {
        var segments: [(code: Int32, payload: Range<Int>)] = []
        var position = 2
        while position + 4 <= file.count, file[position] == 0xFF {
            let code = file[position + 1]
            if code == 0xFF {
                // Markers may be preceded by fill bytes.
                position += 1
                continue
            }
            let length = Int(file[position + 2]) << 8 | Int(file[position + 3])
            let end = position + 2 + length
            // Start of scan, end of image, and markers that have no payload.
            guard code >= 0xC0, !(0xD0...0xDA).contains(code), length >= 2, end <= file.count else { break }
            segments.append((Int32(code), position + 4..<end))
            position = end
        }
        return segments
    }
}
