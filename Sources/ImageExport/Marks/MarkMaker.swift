import ChunkedCompute
import Glibc
import ImageCodecs
import SystemText

/// Makes the marks of each output: sizes them by the output and sets their text. One per worker; keeps what the next output
/// needs again.
package final class MarkMaker {
    /// Marks kept; outputs of one job have few sizes.
    private static let kept = 16

    private let lanes: Lanes
    private var pictures: [PictureKey: Raster] = [:]
    private var faces: [String: Typeface] = [:]

    private struct PictureKey: Hashable {
        var path: String
        var width: Int
        var height: Int
        var space: OutputColorSpace
        /// Where that is kept.
        var profile: [UInt8]?
    }

    struct Raster {
        var width: Int
        var height: Int
        var samples: [UInt16]
    }

    /// What texts say about the picture that they stand on.
    struct Facts {
        var stem: String
        var day: (year: Int, month: Int, day: Int)

        init(stem: String, day: (year: Int, month: Int, day: Int)) {
            self.stem = stem
            self.day = day
        }

        /// `modified` counts seconds since 1970, and is what is left where the picture says nothing.
        init(path: String, _ metadata: ImageMetadata, modified: Int) {
            let name = SystemFile.name(path)
            let dot = name.utf8.lastIndex(of: UInt8(ascii: "."))
            // A byte that is no character is put on as it is shown.
            stem = (dot.map { $0 == name.startIndex ? name : String(name[..<$0]) } ?? name).shown
            var seconds = time_t(modified)
            var civil = tm()
            gmtime_r(&seconds, &civil)
            day = metadata.day ?? (Int(civil.tm_year) + 1900, Int(civil.tm_mon) + 1, Int(civil.tm_mday))
        }

        func filling(_ text: String) -> String {
            func digits(_ number: Int, _ count: Int) -> String {
                String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
            }
            let date = "\(digits(day.year, 4))-\(digits(day.month, 2))-\(digits(day.day, 2))"
            return text.replacing("{year}", with: digits(day.year, 4)).replacing("{date}", with: date)
                .replacing("{stem}", with: stem)
        }
    }

    init(_ lanes: Lanes) {
        self.lanes = lanes
    }

    /// Sets what every picture's text has in common.
    ///
    /// - Throws: ``ExportFailure`` with `watermark` where no picture can have it.
    package static func check(_ mark: TextMark, face: Typeface) throws {
        let noFacts = Facts(stem: "", day: (2000, 1, 1))
        let common = noFacts.filling(mark.text)
        let isOthers = common.allSatisfy(\.isWhitespace) && mark.text.contains("{stem}")
        if !isOthers { _ = try face.line(common, pixelSize: 16) }
    }

    /// The marks of one output, the text on top.
    ///
    /// - Throws: ``ExportFailure`` with `watermark` where the logo or the font cannot be used.
    func marks(
        of settings: OutputSettings, on request: EncodeRequest, _ paint: Paint, _ facts: Facts,
        _ limits: DecodeLimits, _ pulse: CodecPulse
    ) throws -> [Mark] {
        let output = (width: request.width, height: request.height)
        var marks: [Mark] = []
        if let picture = settings.pictureMark {
            let raster = try pictureRaster(picture, settings.colorSpace, paint, output, limits, pulse)
            marks.append(mark(raster, picture.style, on: output))
        }
        if let text = settings.textMark {
            let raster = try textRaster(text, paint, output, facts, limits, pulse)
            marks.append(mark(raster, text.style, on: output))
        }
        return marks
    }

    private func mark(
        _ raster: Raster, _ style: MarkStyle, on output: (width: Int, height: Int)
    ) -> Mark {
        var mark = Mark(
            width: raster.width, height: raster.height, samples: raster.samples, at: style.place, on: output)
        mark.fade(to: style.opacity)
        return mark
    }

    private func pictureRaster(
        _ mark: PictureMark, _ space: OutputColorSpace, _ paint: Paint, _ output: (width: Int, height: Int),
        _ limits: DecodeLimits, _ pulse: CodecPulse
    ) throws -> Raster {
        let margins = 2 * Mark.margin(output)
        let key = PictureKey(
            path: mark.file.path, width: max(1, Int((Double(output.width) * mark.style.scale).rounded())),
            height: max(1, output.height - margins), space: space, profile: paint.profile)
        if let known = pictures[key] { return known }
        if pictures.count >= Self.kept { pictures.removeAll() }
        let raster: Raster
        do {
            raster = try MarkPicture.read(
                key.path, width: key.width, height: key.height, space: space, paint, lanes, limits, pulse)
        } catch let error as CodecError where error.code != .stopped {
            throw ExportFailure("watermark", "the watermark \(key.path): \(error.reason)")
        } catch let error as ExportFailure {
            throw ExportFailure("watermark", "the watermark \(key.path): \(error.reason)")
        }
        pictures[key] = raster
        return raster
    }

    private func textRaster(
        _ mark: TextMark, _ paint: Paint, _ output: (width: Int, height: Int), _ facts: Facts,
        _ limits: DecodeLimits, _ pulse: CodecPulse
    ) throws -> Raster {
        let face = try faces[mark.font.path] ?? Typeface(path: mark.font.path, limits: limits, pulse: pulse)
        faces[mark.font.path] = face
        let text = facts.filling(mark.text)
        var size = max(4, Int((Double(min(output.width, output.height)) * mark.style.scale).rounded()))
        var line = try face.line(text, pixelSize: size)
        let widest = max(1, output.width - 2 * Mark.margin(output))
        // Widths do not grow quite evenly with sizes.
        while line.width > widest, size > 4 {
            size = max(4, min(size - 1, size * widest / line.width))
            line = try face.line(text, pixelSize: size)
        }
        return Raster(
            width: line.width, height: line.height, samples: line.samples(color: paint.bytes(mark.color)))
    }
}
