/// Names the metadata of formats of which only the picture is read.
enum UnreadMetadata {
    /// Sentences on what a file has beside its picture.
    static func sentences(_ format: ImageFormat, _ file: UnsafeRawBufferPointer) -> [String] {
        let names: [String] =
            switch format {
            case .gif: gif(file)
            case .jp2: jp2(file)
            default: []
            }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }.map { "\($0) was left out" }
    }

    /// The extensions before the first picture (GIF89a, sections 20 to 26).
    private static func gif(_ file: UnsafeRawBufferPointer) -> [String] {
        guard file.count > 13 else { return [] }
        var names: [String] = []
        // Behind the global table of colours.
        var start = 13 + (file[10] & 0x80 == 0 ? 0 : 3 << (Int(file[10] & 7) + 1))
        while start + 3 < file.count, file[start] == 0x21 {
            let name = UnsafeRawBufferPointer(rebasing: file[min(start + 3, file.count)..<min(start + 14, file.count)])
            switch file[start + 1] {
            case 0xFE: names.append("the comment")
            case 0xFF where name.elementsEqual("XMP DataXMP".utf8): names.append("the XMP packet")
            case 0xFF where name.elementsEqual("ICCRGBG1012".utf8): names.append("the colour profile")
            default: break
            }
            // Blocks with their lengths before them, up to one of none.
            start += 2
            while start < file.count, file[start] > 0 { start += 1 + Int(file[start]) }
            start += 1
        }
        return names
    }

    private static let exif = Array("JpgTiffExif->JP2".utf8)
    /// The identifier of a box with XMP (XMP specification, part 3, section 1.1.4).
    private static let xmp: [UInt8] = [
        0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
    ]

    /// The outermost boxes (ISO/IEC 15444-1, annex I).
    private static func jp2(_ file: UnsafeRawBufferPointer) -> [String] {
        func number(_ start: Int, _ count: Int) -> Int { file[start..<start + count].reduce(0) { $0 << 8 | Int($1) } }
        var names: [String] = []
        var start = 0
        while start + 8 <= file.count, names.count < 8 {
            let isLong = number(start, 4) == 1 && start + 16 <= file.count
            let length = isLong ? number(start + 8, 8) : number(start, 4)
            let content = file[(start + (isLong ? 16 : 8))...]
            switch String(decoding: file[start + 4..<start + 8], as: UTF8.self) {
            case "xml ": names.append("the XML box")
            case "uuid" where content.starts(with: exif): names.append("the EXIF block")
            case "uuid" where content.starts(with: xmp): names.append("the XMP packet")
            case "uuid": names.append("a box of another program")
            default: break
            }
            // One of length 0 goes on to the end.
            guard length >= 8, length <= file.count - start else { break }
            start += length
        }
        return names
    }
}
