/// Maker notes as cameras lay them out (from ExifTool's documentation of them), each with a value that an offset leads to.
enum MakerNote: String, CaseIterable, Sendable {
    case apple, canon, casio1, casio2, fujifilm, nikon1, nikon2, nikon3, olympus, olympusNew, panasonic, pentax, ricoh
    case samsung, sigma, sony

    var make: String {
        switch self {
        case .apple: "Apple"
        case .canon: "Canon"
        case .casio1: "CASIO"
        case .casio2: "CASIO COMPUTER CO.,LTD."
        case .fujifilm: "FUJIFILM"
        case .nikon1: "NIKON"
        case .nikon2, .nikon3: "NIKON CORPORATION"
        case .olympus: "OLYMPUS OPTICAL CO.,LTD"
        case .olympusNew: "OLYMPUS IMAGING CORP."
        case .panasonic: "Panasonic"
        case .pentax: "PENTAX Corporation"
        case .ricoh: "RICOH"
        case .samsung: "SAMSUNG"
        case .sigma: "SIGMA"
        case .sony: "SONY"
        }
    }

    /// The order of the block, which most notes share.
    var isBigEndian: Bool { [.apple, .casio1, .casio2, .nikon3, .pentax].contains(self) }

    /// Offsets count from the note's own bytes, so that it is true at any place.
    var isMovable: Bool { [.apple, .fujifilm, .nikon3, .olympusNew].contains(self) }

    /// What stands before the directory, and where its offsets count from, in bytes of the note; nil for the block's start.
    private var head: (bytes: [UInt8], base: Int?) {
        switch self {
        case .apple: (Array("Apple iOS\0\0\u{1}MM".utf8), 0)
        case .canon, .casio1, .nikon2, .samsung: ([], nil)
        case .casio2: (Array("QVC\0\0\0".utf8), nil)
        case .fujifilm: (Array("FUJIFILM".utf8) + [12, 0, 0, 0], 0)
        case .nikon1: (Array("Nikon\0\u{1}\0".utf8), nil)
        case .nikon3: (Array("Nikon\0\u{2}\u{10}\0\0MM\0*\0\0\0\u{8}".utf8), 10)
        case .olympus: (Array("OLYMP\0\u{1}\0".utf8), nil)
        case .olympusNew: (Array("OLYMPUS\0II\u{3}\0".utf8), 0)
        case .panasonic: (Array("Panasonic\0\0\0".utf8), nil)
        case .pentax: (Array("AOC\0MM".utf8), nil)
        case .ricoh: (Array("Ricoh\0\0\0".utf8), nil)
        case .sigma: (Array("SIGMA\0\0\0\u{1}\0".utf8), nil)
        case .sony: (Array("SONY DSC \0\0\0".utf8), nil)
        }
    }

    private func entries(_ w: EXIFWriter) -> [EXIFWriter.Entry] {
        switch self {
        case .apple:
            [
                w.longs(1, 4, type: 9), w.ratios(8, -65, 100, 3, 1_000, -75, 100, type: 10), w.longs(0xA, 3, type: 9),
                w.text(0x11, "2C9F5F5E-7D11-4C5B-9D3A-1"), w.text(0x15, "A66C9B1E-0002-4B1D-8A0C-2"),
            ]
        case .canon:
            [
                w.text(6, "IMG:EOS 5D JPEG"), w.text(7, "Firmware 1.1.1"), w.text(9, "Camera Owner"),
                w.longs(0xC, 123_456), w.text(0x95, "EF24-105mm f/4L IS USM"),
            ]
        case .casio1: [w.shorts(1, 1), w.shorts(2, 3), w.text(0x15, "0512\0\0\0\0\u{4}\0"), w.shorts(0x14, 80)]
        case .casio2:
            [w.shorts(2, 320, 240), w.text(0x2001, "0512\0\0\0\0\u{4}\0"), w.longs(0x2022, 1_200), w.shorts(0x3000, 2)]
        case .fujifilm:
            [
                w.bytes(0, Array("0130".utf8)), w.text(0x10, "FPX 12345678 591C32000001"), w.text(0x1000, "FINE   "),
                w.shorts(0x1001, 3),
            ]
        case .nikon1: [w.shorts(3, 3), w.shorts(4, 1), w.ratios(0xA, 15, 10), w.text(2, "E950 firmware 1.1")]
        case .nikon2, .nikon3:
            [
                w.bytes(1, Array("0210".utf8)), w.text(4, "FINE   "), w.text(5, "AUTO        "),
                w.text(0x1D, "2000123"),
                w.ratios(0x84, 18, 1, 70, 1, 35, 10, 45, 10),
            ]
        case .olympus:
            [
                w.longs(0x200, 1, 2, 3), w.ratios(0x204, 15, 10), w.text(0x207, "SX756"),
                w.bytes(0x209, Array("OLYMPUS DIGITAL CAMERA         \0".utf8)),
            ]
        case .olympusNew: [w.text(0x207, "D4322 of it"), w.ratios(0x204, 15, 10), w.shorts(0x201, 3)]
        case .panasonic:
            [
                w.shorts(1, 2), w.bytes(2, [0, 1, 0, 1]), w.bytes(0x25, Array("F540801010033\0\0\0".utf8)),
                w.text(0x51, "LUMIX G VARIO 14-140/F3.5-5.6"), w.shorts(3, 1),
            ]
        case .pentax:
            [
                w.bytes(0, [3, 0, 0, 0], type: 1), w.longs(5, 76_830), w.shorts(0x19, 1),
                w.text(0x229, "3511234 of it"),
                w.shorts(8, 2),
            ]
        case .ricoh: [w.text(1, "Rdc"), w.text(2, "Rev0113 of it"), w.text(5, "6002 and more"), w.shorts(0x1001, 2)]
        case .samsung:
            [
                w.bytes(1, Array("0100".utf8)), w.longs(2, 0x2000), w.longs(3, 0x5001038),
                w.text(0xA001, "NX10_011097"),
                w.text(0xA002, "serial 77"),
            ]
        case .sigma:
            [w.text(2, "1001234567"), w.text(3, "SINGLE"), w.text(4, "HI    "), w.text(0x17, "SD14 1.05 of it")]
        case .sony:
            [
                w.longs(0x102, 2), w.shorts(0xB001, 257),
                w.bytes(0xB020, Array("Standard\0\0\0\0\0\0\0\0".utf8), type: 2),
                w.longs(0xB026, 1),
            ]
        }
    }

    /// Its bytes for a place in the block.
    func bytes(at place: Int) -> [UInt8] {
        let (head, base) = head
        let writer = EXIFWriter(isBigEndian: isBigEndian)
        let start = base.map { head.count - $0 } ?? place + head.count
        return head + writer.directory(entries(writer), at: start)
    }

    /// A camera's block around it.
    func block(width: Int, height: Int, thumbnail: [UInt8] = []) -> [UInt8] {
        EXIFWriter(isBigEndian: isBigEndian).block(
            make: make, model: "A camera of theirs", width: width, height: height, thumbnail: thumbnail,
            makerNote: bytes)
    }
}
