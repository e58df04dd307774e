import Foundation

/// Puts boxes around a codestream that `opj_compress` made without loss (ISO/IEC 15444-1, annex I).
struct JP2Writer {
    /// What a channel of the picture is.
    enum Channel {
        case color(Int)
        case opacity, premultipliedOpacity, unspecified

        fileprivate var definition: [UInt8] {
            switch self {
            case .color(let number): [0, 0, 0, UInt8(number)]
            case .opacity: [0, 1, 0, 0]
            case .premultipliedOpacity: [0, 2, 0, 0]
            case .unspecified: [0xFF, 0xFF, 0xFF, 0xFF]
            }
        }
    }

    let width: Int
    let height: Int
    let components: Int
    /// The contents of the colour specifications.
    var colors: [[UInt8]] = [JP2Writer.enumerated(16)]
    /// Bits of each column, and the entries.
    var palette: (bits: [Int], entries: [[Int]])?
    /// The component of each channel, and the palette's column.
    var mapping: [(component: Int, column: Int?)] = []
    var channels: [Channel] = []
    private let codestream: [UInt8]

    /// `sample` is a value of 8 bits at x, y and component.
    init(width: Int, height: Int, components: Int, sample: (Int, Int, Int) -> Int) throws {
        (self.width, self.height, self.components) = (width, height, components)
        let kind = ["GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"][components - 1]
        var bytes = Array(
            "P7\nWIDTH \(width)\nHEIGHT \(height)\nDEPTH \(components)\nMAXVAL 255\nTUPLTYPE \(kind)\nENDHDR\n".utf8)
        for y in 0..<height {
            for x in 0..<width { for c in 0..<components { bytes.append(UInt8(sample(x, y, c))) } }
        }
        let tools = try ToolFolder()
        let input = try tools.write(bytes, as: "in.pam")
        try tools.run("opj_compress", ["-n", "1", "-mct", "0", "-i", input, "-o", tools.path("out.j2k").path])
        codestream = try tools.read("out.j2k")
    }

    static func enumerated(_ space: Int) -> [UInt8] { [1, 0, 0] + Box.big(space, 4) }

    static func profile(_ icc: [UInt8], method: UInt8 = 2) -> [UInt8] { [method, 0, 0] + icc }

    func file() -> [UInt8] {
        var header = Box.of(
            "ihdr", Box.big(height, 4) + Box.big(width, 4) + Box.big(components, 2) + [7, 7, 0, 0])
        for color in colors { header += Box.of("colr", color) }
        if let palette {
            var content = Box.big(palette.entries.count, 2) + [UInt8(palette.bits.count)]
            content += palette.bits.map { UInt8($0 - 1) }
            for entry in palette.entries {
                for (value, bits) in zip(entry, palette.bits) { content += Box.big(value, (bits + 7) / 8) }
            }
            header += Box.of("pclr", content)
            var mapped: [UInt8] = []
            for (component, column) in mapping {
                mapped += Box.big(component, 2) + (column.map { [1, UInt8($0)] } ?? [0, 0])
            }
            header += Box.of("cmap", mapped)
        }
        if !channels.isEmpty {
            let definitions = channels.enumerated().flatMap { Box.big($0.offset, 2) + $0.element.definition }
            header += Box.of("cdef", Box.big(channels.count, 2) + definitions)
        }
        return Box.of("jP  ", [0x0D, 0x0A, 0x87, 0x0A])
            + Box.of("ftyp", Array("jp2 ".utf8) + Box.big(0, 4) + Array("jp2 ".utf8))
            + Box.of("jp2h", header) + Box.of("jp2c", codestream)
    }
}
