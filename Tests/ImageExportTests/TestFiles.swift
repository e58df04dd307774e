import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import TemporaryFolders

extension TemporaryFolder {
    /// Encodes a picture and writes it.
    func write(_ name: String, _ pixels: [UInt8], _ request: EncodeRequest) throws -> String {
        let encoder = try CodecRegistry.encoder(for: request)
        try pixels.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            try encoder.writeRows(
                base, strideBytes: request.width * request.layout.bytesPerPixel, count: request.height)
        }
        let path = file(name)
        try encoder.finish { try Data($0).write(to: URL(fileURLWithPath: path)) }
        return path
    }
}

/// A decoded file.
struct Decoded {
    var header: ImageHeader
    var width: Int
    var height: Int
    var bytes: [UInt8]
    var damage: [String]

    /// 8- or 16-bit samples as numbers, four a pixel.
    var samples: [Double] {
        guard header.layout == .rgba16 else { return bytes.map { Double($0) } }
        return bytes.withUnsafeBytes { $0.bindMemory(to: UInt16.self).map { Double($0) } }
    }

    init(_ path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        (header, width, height, bytes, damage) = try data.withUnsafeBytes { file in
            let decoder = try CodecRegistry.decoder(for: file, limits: DecodeLimits())
            let (width, height) = try decoder.start(scaleEighths: 8)
            let stride = width * decoder.header.layout.bytesPerPixel
            var bytes = [UInt8](repeating: 0, count: stride * height)
            var row = 0
            try bytes.withUnsafeMutableBytes { rows in
                guard let base = rows.baseAddress else { return }
                while row < height {
                    row += try decoder.readRows(into: base + row * stride, strideBytes: stride, count: height - row)
                }
            }
            return (decoder.header, width, height, bytes, decoder.damage)
        }
    }
}

/// Exports one file with one or more settings, and returns the result.
func export(
    _ input: String, to outputs: [(String, OutputSettings)], exporter: ImageExporter = ImageExporter(),
    lane: LaneChoice = .cpu, limits: DecodeLimits = DecodeLimits(), mayReplace: Bool = false
) -> ItemResult {
    let item = ExportItem(
        input: input,
        outputs: outputs.map { ExportItem.Output(settings: $0.1, path: $0.0, mayReplace: mayReplace) }, lane: lane,
        limits: limits)
    return exporter.export(item) { _ in true }
}

func settings(_ change: (inout OutputSettings) -> Void) -> OutputSettings {
    var settings = OutputSettings()
    change(&settings)
    return settings
}

/// A minimal EXIF block that holds only an orientation.
func exif(orientation: Int) -> [UInt8] {
    [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0, 0]
}
