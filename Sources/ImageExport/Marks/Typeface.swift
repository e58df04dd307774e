import CTypeset
package import ImageCodecs
import SystemText

/// A font that lines of text are drawn with.
package final class Typeface {
    /// Its bytes, which the font goes on reading.
    private let file = InputFile()
    private let handle: OpaquePointer

    /// - Throws: ``ExportFailure`` with `watermark` where the file cannot be read, is no scalable font, or FreeType is not
    ///   installed.
    package init(path: String, limits: DecodeLimits, pulse: CodecPulse) throws {
        do {
            try file.read(path, limits: limits, pulse: pulse)
        } catch let error as ExportFailure {
            throw ExportFailure("watermark", "the font \(path): \(error.reason)")
        }
        let bytes = file.bytes
        handle = try Self.calling { reason, size in bg_font_open(bytes.baseAddress, bytes.count, reason, size) }
    }

    deinit {
        bg_font_close(handle)
    }

    /// How much of each pixel a line of text covers, row-major, in the smallest rectangle around it.
    struct Line {
        var width: Int
        var height: Int
        /// Rows above the line that letters stand on.
        var baseline: Int
        /// 0 ... 255.
        var coverage: [UInt8]

        /// The line in a colour of 8-bit R, G, B, as a ``Mark`` has it.
        func samples(color: [UInt8]) -> [UInt16] {
            var samples = [UInt16](repeating: 0, count: 4 * coverage.count)
            for (place, coverage) in coverage.enumerated() where coverage > 0 {
                for channel in 0..<3 { samples[4 * place + channel] = UInt16(color[channel]) * 257 }
                samples[4 * place + 3] = UInt16(coverage) * 257
            }
            return samples
        }
    }

    /// - Throws: ``ExportFailure`` with `watermark` where the font lacks a letter.
    func line(_ text: String, pixelSize: Int) throws -> Line {
        let scalars = text.unicodeScalars.map(\.value)
        let size = UInt32(clamping: pixelSize)
        var extent = bg_text_extent()
        try Self.calling { reason, room in
            bg_font_measure(handle, scalars, scalars.count, size, &extent, reason, room) == 0 ? () : nil
        }
        var line = Line(
            width: Int(extent.width), height: Int(extent.height), baseline: Int(extent.baseline), coverage: [])
        line.coverage = [UInt8](repeating: 0, count: line.width * line.height)
        try Self.calling { reason, room in
            bg_font_draw(handle, scalars, scalars.count, size, &extent, &line.coverage, reason, room) == 0 ? () : nil
        }
        return line
    }

    /// Calls C, which gives nothing and a reason where it fails.
    private static func calling<Result>(
        _ call: (UnsafeMutablePointer<CChar>?, Int) -> Result?
    ) throws(ExportFailure) -> Result {
        var result: Result?
        let reason = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            buffer[0] = 0
            result = call(buffer.baseAddress, buffer.count)
            return buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
        guard let result else { throw ExportFailure("watermark", "the text cannot be put on: \(reason)") }
        return result
    }
}

/// Finds installed fonts.
package enum FontCatalogue {
    /// The file of the font that fontconfig has for a pattern, e.g. `DejaVu Sans:bold`.
    ///
    /// - Parameter pattern: A family, with properties after colons.
    /// - Returns: An absolute path.
    /// - Throws: ``ExportFailure`` with `watermark` where there is no such font, or no fontconfig.
    package static func file(for pattern: String) throws(ExportFailure) -> String {
        var path = [CChar](repeating: 0, count: 4096)
        var reason = [CChar](repeating: 0, count: 512)
        guard bg_font_find(pattern, &path, path.count, &reason, reason.count) == 0 else {
            throw ExportFailure("watermark", string(reason))
        }
        return string(path)
    }

    private static func string(_ bytes: [CChar]) -> String {
        String(system: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
    }
}
