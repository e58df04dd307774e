import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import SamplePhotos
import TemporaryFolders
import Testing

/// Turns, crops and borders, against the pixels of an export without them.
@Suite struct FramingTests {
    static let size = (width: 60, height: 40)

    /// A picture of that orientation, as a JPEG, since PNG tells none.
    func photo(_ folder: TemporaryFolder, orientation: Int) throws -> String {
        let pixels = SamplePhotos.pixels(seed: 5, width: Self.size.width, height: Self.size.height)
        return try folder.write(
            "in-\(orientation).jpg", pixels,
            EncodeRequest(
                format: .jpeg, width: Self.size.width, height: Self.size.height, layout: .rgbx8,
                metadata: ImageMetadata(exif: exif(orientation: orientation))))
    }

    func exported(
        _ folder: TemporaryFolder, _ input: String, _ name: String, _ change: (inout OutputSettings) -> Void
    ) throws -> Decoded {
        var wanted = settings { $0.format = .png }
        change(&wanted)
        let out = folder.file(name)
        let result = export(input, to: [(out, wanted)])
        #expect(result.status == .good, "\(result.failure?.reason ?? "")")
        return try Decoded(out)
    }

    func pixel(_ picture: Decoded, _ x: Int, _ y: Int) -> [UInt8] {
        let i = (y * picture.width + x) * 4
        return Array(picture.bytes[i..<i + 3])
    }

    @Test(arguments: 1...8) func turnsAreOfTheUprightPicture(_ orientation: Int) throws {
        let folder = try TemporaryFolder()
        let input = try photo(folder, orientation: orientation)
        let plain = try exported(folder, input, "plain") { _ in }
        for turns in 1...3 {
            let turned = try exported(folder, input, "turned-\(turns)") { $0.turns = turns }
            let swaps = turns % 2 == 1
            #expect(turned.width == (swaps ? plain.height : plain.width))
            #expect(turned.height == (swaps ? plain.width : plain.height))
            for (x, y) in [(0, 0), (7, 3), (20, 31), (38, 12)] {
                let from =
                    switch turns {
                    case 1: (y, plain.height - 1 - x)
                    case 2: (plain.width - 1 - x, plain.height - 1 - y)
                    default: (plain.width - 1 - y, x)
                    }
                #expect(pixel(turned, x, y) == pixel(plain, from.0, from.1), "\(turns) turns at \(x), \(y)")
            }
        }
    }

    @Test(arguments: 1...8) func cropsAreOfTheUprightPicture(_ orientation: Int) throws {
        let folder = try TemporaryFolder()
        let input = try photo(folder, orientation: orientation)
        let plain = try exported(folder, input, "plain") { _ in }
        let crop = try exported(folder, input, "crop") { $0.crop = .box(width: 21, height: 14, x: 9, y: 5) }
        #expect((crop.width, crop.height) == (21, 14))
        for y in 0..<14 {
            for x in 0..<21 where pixel(crop, x, y) != pixel(plain, x + 9, y + 5) {
                Issue.record("a wrong pixel at \(x), \(y)")
            }
        }
        let both = try exported(folder, input, "both") {
            $0.turns = 1
            $0.crop = .box(width: 8, height: 6, x: 2, y: 3)
        }
        #expect(pixel(both, 4, 2) == pixel(plain, 5, plain.height - 1 - 6))
    }

    @Test func shapesAreCutFromTheMiddle() throws {
        let folder = try TemporaryFolder()
        let input = try photo(folder, orientation: 1)
        let plain = try exported(folder, input, "plain") { _ in }
        let square = try exported(folder, input, "square") { $0.crop = .aspect(width: 1, height: 1) }
        #expect((square.width, square.height) == (40, 40))
        #expect(pixel(square, 0, 0) == pixel(plain, 10, 0))
        let small = try exported(folder, input, "small") {
            $0.crop = .aspect(width: 1, height: 1)
            $0.size = .longEdge(20)
        }
        #expect((small.width, small.height) == (20, 20))
    }

    @Test func aCropOutsideOfThePictureIsItsFailure() throws {
        let folder = try TemporaryFolder()
        let input = try photo(folder, orientation: 1)
        let outside = export(
            input, to: [(folder.file("out"), settings { $0.crop = .box(width: 10, height: 10, x: 60, y: 0) })])
        #expect(outside.failure?.code == "crop")
        let cut = export(
            input, to: [(folder.file("cut.png"), settings { $0.crop = .box(width: 10, height: 10, x: 55, y: 0) })])
        #expect(cut.status == .good)
        #expect(cut.notes == ["of the crop of 10x10 only 5x10 lie within the picture"])
        let across = try exported(folder, input, "across") { $0.crop = .box(width: 50, height: 50, x: 40, y: 10) }
        #expect((across.width, across.height) == (20, 30))
    }

    @Test(arguments: [1, 6]) func bordersSurroundThePicture(_ orientation: Int) throws {
        let folder = try TemporaryFolder()
        let input = try photo(folder, orientation: orientation)
        let plain = try exported(folder, input, "plain") { _ in }
        let framed = try exported(folder, input, "framed") { $0.border = Border(pixels: 4, color: [10, 200, 30]) }
        #expect((framed.width, framed.height) == (plain.width + 8, plain.height + 8))
        for y in 0..<framed.height {
            for x in 0..<framed.width {
                let (inX, inY) = (x - 4, y - 4)
                let isInside = (0..<plain.width).contains(inX) && (0..<plain.height).contains(inY)
                let expected = isInside ? pixel(plain, inX, inY) : [10, 200, 30]
                if pixel(framed, x, y) != expected { Issue.record("a wrong pixel at \(x), \(y)") }
            }
        }
    }
}
