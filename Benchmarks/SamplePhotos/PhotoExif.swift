/// Writes the EXIF block of a camera file: a little-endian TIFF structure with camera, exposure and position.
struct PhotoExif {
    var make: String
    var model: String
    var lens: String
    /// `YYYY:MM:DD HH:MM:SS`.
    var dateTime: String
    var orientation: Int
    /// Stored size in pixels.
    var width: Int
    var height: Int
    /// Reciprocal of the exposure time in seconds.
    var shutter: Int
    /// F-number times ten.
    var aperture: Int
    var iso: Int
    var focalLength: Int
    /// The EXIF colour space is sRGB; otherwise uncalibrated.
    var isSRGB: Bool
    /// Degrees, north and east positive; nil when the camera had no position.
    var position: (latitude: Double, longitude: Double)?
    /// A small JPEG.
    var thumbnail: [UInt8]?

    private enum Value {
        case ascii(String)
        case short(Int)
        case long(Int)
        case rationals([(UInt32, UInt32)])
        case bytes([UInt8])
        case undefined([UInt8])

        var type: UInt16 {
            switch self {
            case .bytes: 1
            case .ascii: 2
            case .short: 3
            case .long: 4
            case .rationals: 5
            case .undefined: 7
            }
        }

        var count: Int {
            switch self {
            case .ascii(let text): text.utf8.count + 1
            case .short, .long: 1
            case .rationals(let values): values.count
            case .bytes(let bytes), .undefined(let bytes): bytes.count
            }
        }

        var payload: [UInt8] {
            switch self {
            case .ascii(let text): Array(text.utf8) + [0]
            case .short(let value): littleEndian(UInt16(value))
            case .long(let value): littleEndian(UInt32(value))
            case .rationals(let values): values.flatMap { littleEndian($0.0) + littleEndian($0.1) }
            case .bytes(let bytes), .undefined(let bytes): bytes
            }
        }
    }

    /// The block, starting at its byte-order mark.
    func block() -> [UInt8] {
        // Offsets of the sub-directories depend on the size of what comes before them, which does not depend on the
        // offsets: a first pass with zeros finds them.
        let header: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
        let main = Self.directory(mainEntries(exifOffset: 0, gpsOffset: 0), at: header.count, next: 0)
        let exifOffset = header.count + main.count
        let exif = Self.directory(exifEntries(), at: exifOffset, next: 0)
        let gpsOffset = exifOffset + exif.count
        let gps = position.map { Self.directory(gpsEntries($0.latitude, $0.longitude), at: gpsOffset, next: 0) } ?? []
        let previewOffset = gpsOffset + gps.count
        let entries = mainEntries(exifOffset: exifOffset, gpsOffset: gpsOffset)
        guard let thumbnail else {
            return header + Self.directory(entries, at: header.count, next: 0) + exif + gps
        }
        let empty = Self.directory(previewEntries(at: 0, count: thumbnail.count), at: previewOffset, next: 0)
        let preview = Self.directory(
            previewEntries(at: previewOffset + empty.count, count: thumbnail.count), at: previewOffset, next: 0)
        return header + Self.directory(entries, at: header.count, next: previewOffset) + exif + gps + preview
            + thumbnail
    }

    private func mainEntries(exifOffset: Int, gpsOffset: Int) -> [(UInt16, Value)] {
        var entries: [(UInt16, Value)] = [
            (0x010F, .ascii(make)), (0x0110, .ascii(model)), (0x0112, .short(orientation)),
            (0x011A, .rationals([(300, 1)])), (0x011B, .rationals([(300, 1)])), (0x0128, .short(2)),
            (0x0131, .ascii("Firmware 1.20")), (0x0132, .ascii(dateTime)), (0x0213, .short(2)),
            (0x8769, .long(exifOffset)),
        ]
        if position != nil { entries.append((0x8825, .long(gpsOffset))) }
        return entries
    }

    private func exifEntries() -> [(UInt16, Value)] {
        [
            (0x829A, .rationals([(1, UInt32(shutter))])), (0x829D, .rationals([(UInt32(aperture), 10)])),
            (0x8822, .short(3)), (0x8827, .short(iso)), (0x9000, .undefined(Array("0232".utf8))),
            (0x9003, .ascii(dateTime)), (0x9004, .ascii(dateTime)), (0x9010, .ascii("+02:00")),
            (0x9101, .undefined([1, 2, 3, 0])),
            (0x920A, .rationals([(UInt32(focalLength), 1)])), (0xA000, .undefined(Array("0100".utf8))),
            (0xA001, .short(isSRGB ? 1 : 0xFFFF)),
            (0xA002, .long(width)), (0xA003, .long(height)), (0xA434, .ascii(lens)),
        ]
    }

    private func gpsEntries(_ latitude: Double, _ longitude: Double) -> [(UInt16, Value)] {
        [
            (0, .bytes([2, 3, 0, 0])), (1, .ascii(latitude < 0 ? "S" : "N")), (2, Self.degrees(latitude)),
            (3, .ascii(longitude < 0 ? "W" : "E")), (4, Self.degrees(longitude)), (5, .bytes([0])),
            (6, .rationals([(4_120, 10)])),
        ]
    }

    private func previewEntries(at offset: Int, count: Int) -> [(UInt16, Value)] {
        [
            (0x0103, .short(6)), (0x011A, .rationals([(72, 1)])), (0x011B, .rationals([(72, 1)])), (0x0128, .short(2)),
            (0x0201, .long(offset)), (0x0202, .long(count)),
        ]
    }

    private static func degrees(_ angle: Double) -> Value {
        let hundredths = UInt32((abs(angle) * 360_000).rounded())
        return .rationals([
            (hundredths / 360_000, 1), (hundredths / 6_000 % 60, 1), (hundredths % 6_000, 100),
        ])
    }

    /// One image file directory with the values that do not fit into their entries behind it.
    private static func directory(_ entries: [(UInt16, Value)], at offset: Int, next: Int) -> [UInt8] {
        var table = littleEndian(UInt16(entries.count))
        var values: [UInt8] = []
        let valuesOffset = offset + 2 + entries.count * 12 + 4
        for (tag, value) in entries {
            var payload = value.payload
            table += littleEndian(tag) + littleEndian(value.type) + littleEndian(UInt32(value.count))
            if payload.count <= 4 {
                table += payload + [UInt8](repeating: 0, count: 4 - payload.count)
            } else {
                table += littleEndian(UInt32(valuesOffset + values.count))
                if payload.count % 2 == 1 { payload.append(0) }
                values += payload
            }
        }
        return table + littleEndian(UInt32(next)) + values
    }
}

private func littleEndian<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
}
