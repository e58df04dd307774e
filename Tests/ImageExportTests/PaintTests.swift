import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import TemporaryFolders
import Testing

/// Colours that a person names: what an output shows of them in sRGB is what was asked for.
@Suite struct PaintTests {
    static let blue: [UInt8] = [50, 100, 200]

    /// For gray of gamma 1.8: header, one tag, and its curve (ICC.1, section 10.6).
    static let grayProfile: [UInt8] = {
        func big(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        var bytes = [UInt8](repeating: 0, count: 128)
        func put(_ part: [UInt8], at place: Int) { bytes.replaceSubrange(place..<place + part.count, with: part) }
        put(big(160), at: 0)
        put([2, 0x40], at: 8)
        put(Array("mntrGRAYXYZ ".utf8), at: 12)
        put(Array("acsp".utf8), at: 36)
        // The white of D50.
        put([0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D], at: 68)
        for part in [1, 0x6B54_5243, 144, 14] { bytes += big(part) }
        return bytes + Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 1, 0xCD, 0, 0]
    }()

    /// A picture of one colour, of 20 x 10 pixels.
    func input(
        _ folder: TemporaryFolder, _ name: String, color: [UInt8], layout: PixelLayout = .rgbx8, icc: [UInt8]? = nil,
        isGray: Bool = false
    ) throws -> String {
        let pixels = (0..<200).flatMap { _ in color }
        return try folder.write(
            name, pixels,
            EncodeRequest(
                format: .png, width: 20, height: 10, layout: layout, isGray: isGray,
                metadata: ImageMetadata(icc: icc)))
    }

    /// One pixel of an output, converted to sRGB by its own profile.
    func shown(_ path: String, _ x: Int, _ y: Int) throws -> [UInt8] {
        let picture = try Decoded(path)
        let i = (y * picture.width + x) * 4
        var pixel = Array(picture.bytes[i..<i + 4])
        let transform = try ColorTransform(from: picture.header.metadata.icc, layout: .rgbx8, to: .sRGB)
        pixel.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { transform.apply(to: base, strideBytes: 4, width: 1, count: 1) }
        }
        return Array(pixel.prefix(3))
    }

    func isNear(_ color: [UInt8], _ other: [UInt8], within levels: Int = 2) -> Bool {
        zip(color, other).allSatisfy { abs(Int($0) - Int($1)) <= levels }
    }

    func exported(
        _ folder: TemporaryFolder, _ input: String, _ name: String, _ change: (inout OutputSettings) -> Void
    ) -> String {
        let result = export(input, to: [(folder.file(name), settings(change))])
        #expect(result.status == .good, "\(result.failure?.reason ?? "")")
        return folder.file(name)
    }

    @Test(arguments: [nil, BuiltInProfile.adobeRGB, .displayP3], OutputColorSpace.allCases)
    func aMatteIsTheColourThatWasAskedFor(profile: BuiltInProfile?, space: OutputColorSpace) throws {
        let folder = try TemporaryFolder()
        let clear = try input(folder, "clear.png", color: [9, 9, 9, 0], layout: .rgba8, icc: profile?.bytes)
        let operations: [[ImageOperation]] = [
            [], [.exposure(-1)], [.saturation(-1)], [.exposure(-1), .denoise(.init(luma: 0.1, chroma: 0.1))],
        ]
        for (index, operations) in operations.enumerated() {
            for size in [OutputSize.original, .longEdge(10)] {
                let out = exported(folder, clear, "\(index) \(size).jpg") {
                    $0.format = .jpeg
                    $0.quality = 100
                    $0.fullChroma = true
                    $0.size = size
                    $0.colorSpace = space
                    $0.matte = Self.blue
                    $0.operations = operations
                }
                let color = try shown(out, 4, 3)
                #expect(isNear(color, Self.blue, within: 3), "\(operations), \(size): \(color)")
            }
        }
    }

    @Test func halfClearPartsAreMixedWithTheMatte() throws {
        let folder = try TemporaryFolder()
        let half = try input(folder, "half.png", color: [200, 0, 40, 128], layout: .rgba8)
        let out = exported(folder, half, "out.jpg") {
            $0.format = .jpeg
            $0.quality = 100
            $0.fullChroma = true
            $0.matte = [0, 100, 240]
        }
        let (color, mixed) = (try shown(out, 5, 5), [200 * 128 / 255, 100 * 127 / 255, (40 * 128 + 240 * 127) / 255])
        #expect(isNear(color, mixed.map { UInt8($0) }), "\(color)")
    }

    @Test(arguments: [nil, BuiltInProfile.adobeRGB, .displayP3], OutputColorSpace.allCases)
    func bordersAndLogosAreInTheirColours(profile: BuiltInProfile?, space: OutputColorSpace) throws {
        let folder = try TemporaryFolder()
        let photo = try input(folder, "photo.png", color: [128, 128, 128, 255], icc: profile?.bytes)
        let logo = try input(folder, "logo.png", color: [200, 60, 60, 255])
        let out = exported(folder, photo, "out.png") {
            $0.format = .png
            $0.colorSpace = space
            $0.border = Border(pixels: 2, color: Self.blue)
            $0.pictureMark = PictureMark(
                file: MarkFile(path: logo), style: MarkStyle(place: .init(x: 0.5, y: 0.5), opacity: 1, scale: 0.5))
        }
        let (border, mark) = (try shown(out, 0, 0), try shown(out, 12, 7))
        #expect(isNear(border, Self.blue), "\(border)")
        #expect(isNear(mark, [200, 60, 60]), "\(mark)")
    }

    @Test(arguments: [ImageFormat.png, .webp, .jpeg])
    func aProfileForGrayIsKeptOfGrayOutputsAlone(format: ImageFormat) throws {
        let folder = try TemporaryFolder()
        let icc = Self.grayProfile
        let gray = try input(folder, "gray.png", color: [90, 90, 90, 255], icc: icc, isGray: true)
        let logo = try input(folder, "logo.png", color: [200, 60, 60, 255])
        let plain = exported(folder, gray, "plain") { ($0.format, $0.colorSpace) = (format, .keep) }
        let marked = exported(folder, gray, "marked") {
            ($0.format, $0.colorSpace, $0.quality, $0.fullChroma) = (format, .keep, 100, format == .jpeg)
            $0.pictureMark = PictureMark(
                file: MarkFile(path: logo), style: MarkStyle(place: .init(x: 0.5, y: 0.5), opacity: 1, scale: 0.9))
        }
        let (first, second) = (try Decoded(plain).header, try Decoded(marked).header)
        #expect(first.isGray == (format != .webp) && !second.isGray)
        #expect(first.metadata.icc == (first.isGray ? icc : BuiltInProfile.sRGB.bytes))
        #expect(second.metadata.icc == BuiltInProfile.sRGB.bytes)
        let color = try shown(marked, 10, 5)
        #expect(isNear(color, [200, 60, 60], within: format == .webp ? 12 : 3), "\(color)")
        // The gray itself, from a gamma of 1.8. In a WebP the logo's colour is shared with what is beside it.
        let ground = try shown(marked, 0, 0)
        #expect(isNear(ground, [109, 109, 109], within: format == .webp ? 30 : 3), "\(ground)")
    }

    @Test func aColouredLogoKeepsItsColoursOnAGrayPicture() throws {
        let folder = try TemporaryFolder()
        let gray = try input(folder, "gray.png", color: [90, 90, 90, 255], isGray: true)
        let logo = try input(folder, "logo.png", color: [255, 0, 0, 255])
        let out = exported(folder, gray, "out.png") {
            $0.format = .png
            $0.pictureMark = PictureMark(
                file: MarkFile(path: logo), style: MarkStyle(place: .init(x: 0.5, y: 0.5), opacity: 1, scale: 0.5))
        }
        let picture = try Decoded(out)
        #expect(!picture.header.isGray)
        #expect(try shown(out, 10, 5) == [255, 0, 0] && shown(out, 0, 0) == [90, 90, 90])
        let plain = exported(folder, gray, "plain.png") { $0.format = .png }
        #expect(try Decoded(plain).header.isGray)
    }
}
