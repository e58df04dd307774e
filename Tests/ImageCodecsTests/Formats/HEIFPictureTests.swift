import Foundation
import ImageCodecs
import Testing

/// Pictures of HEIF that are made of others, as telephones store them.
struct HEIFPictureTests {
    private let tools: ToolFolder
    private var writer = HEIFWriter()

    init() throws { tools = try ToolFolder() }

    private func failure(of file: [UInt8]) -> CodecError? {
        do throws(CodecError) {
            _ = try decode(file)
            return nil
        } catch {
            return error
        }
    }

    private static let colors = [[200, 0, 30], [150, 60, 70], [100, 120, 110], [50, 180, 150]]

    /// Two by two tiles of 64 x 64 pixels, of which each has another colour, and each of them alone.
    private mutating func addGrid(
        _ colors: [[Int]] = colors, width: Int, height: Int, isInside: Bool = true, properties: [[UInt8]] = []
    ) throws -> (item: Int, tiles: [Picture]) {
        let how = HEIFWriter.grid(rows: 2, columns: 2, width: width, height: height)
        let size = HEIFWriter.size((width, height))
        let grid = writer.add(.init(kind: "grid", bytes: how, properties: [size] + properties, isInside: isInside))
        let coded = try colors.map { try tools.hevc(Picture.flat($0, side: 64)) }
        writer.refer("dimg", from: grid, to: coded.map { writer.add($0) })
        let tiles = try coded.map { tile in
            var alone = HEIFWriter()
            _ = alone.add(tile)
            return try decode(alone.file()).picture
        }
        return (grid, tiles)
    }

    @Test(arguments: [false, true])
    mutating func `a grid has the pixels of its tiles, and ends inside the last ones`(isInside: Bool) throws {
        let tiles = try addGrid(width: 100, height: 90, isInside: isInside).tiles
        #expect(Set(tiles.map { $0.pixel(32, 32) }).count == 4)
        let grid = try decode(writer.file())
        #expect(grid.damage.isEmpty)
        #expect((grid.picture.width, grid.picture.height) == (100, 90))
        for (x, y) in [(0, 0), (63, 63), (64, 63), (63, 64), (64, 64), (99, 89)] {
            let tile = tiles[y / 64 * 2 + x / 64]
            #expect(grid.picture.pixel(x, y) == tile.pixel(x % 64, y % 64), "\(x), \(y)")
        }
    }

    @Test
    mutating func `a grid is turned as a whole`() throws {
        let tiles = try addGrid(width: 128, height: 96, properties: [HEIFWriter.turn(quarters: 1)]).tiles
        let picture = try decode(writer.file()).picture
        #expect((picture.width, picture.height) == (96, 128))
        // What was at the right is at the top.
        #expect(picture.pixel(10, 10) == tiles[1].pixel(32, 10) && picture.pixel(10, 120) == tiles[0].pixel(10, 10))
    }

    @Test
    mutating func `alpha is that of the picture that belongs to it, a grid too`() throws {
        let (picture, _) = try addGrid(width: 128, height: 128)
        let grays = [0, 90, 180, 255].map { [Int](repeating: $0, count: 3) }
        let opacity = try addGrid(grays, width: 128, height: 128, properties: [HEIFWriter.alpha]).item
        writer.refer("auxl", from: opacity, to: [picture])
        let decoded = try decode(writer.file())
        #expect(decoded.header.hasAlpha)
        for ((x, y), gray) in zip([(10, 10), (100, 10), (10, 100), (100, 100)], grays) {
            #expect(abs(Int(decoded.picture.pixel(x, y)[3]) - gray[0]) <= 2)
        }
    }

    @Test
    mutating func `an overlay has its pictures at their places on a ground`() throws {
        let how = HEIFWriter.overlay(
            color: [0, 0xFFFF, 0, 0xFFFF], width: 200, height: 150, offsets: [(10, 20), (100, 80)])
        let overlay = writer.add(.init(kind: "iovl", bytes: how, properties: [HEIFWriter.size((200, 150))]))
        let (red, blue) = (Picture.flat([220, 20, 20], side: 64), Picture.flat([20, 20, 220], side: 64))
        let layers = try [red, blue].map { writer.add(try tools.hevc($0)) }
        writer.refer("dimg", from: overlay, to: layers)
        let picture = try decode(writer.file()).picture
        #expect(picture.pixel(5, 5).prefix(3) == [0, 255, 0] && picture.pixel(190, 10).prefix(3) == [0, 255, 0])
        #expect(picture.pixel(12, 22)[0] > 190 && picture.pixel(12, 22)[2] < 60)
        #expect(picture.pixel(110, 90)[2] > 190 && picture.pixel(110, 90)[0] < 60)
    }

    @Test(arguments: ["grid", "iden", "iovl"])
    mutating func `a picture that is made of itself is damaged`(kind: String) throws {
        let size = HEIFWriter.size((64, 64))
        let how =
            kind == "grid"
            ? HEIFWriter.grid(rows: 1, columns: 1, width: 64, height: 64)
            : HEIFWriter.overlay(color: [0, 0, 0, 0], width: 64, height: 64, offsets: [(0, 0)])
        let (one, other) = (
            writer.add(.init(kind: kind, bytes: how, properties: [size])),
            writer.add(.init(kind: kind, bytes: how, properties: [size]))
        )
        writer.refer("dimg", from: one, to: [other])
        writer.refer("dimg", from: other, to: [one])
        let error = try #require(failure(of: writer.file()))
        #expect(error.code == .damaged && error.reason.contains("made of itself"), "\(error)")
    }

    @Test(arguments: ["iden", "iovl"])
    mutating func `a picture that is made of what is none is damaged`(kind: String) throws {
        let how = HEIFWriter.overlay(color: [0, 0, 0, 0], width: 64, height: 64, offsets: [(0, 0)])
        let size = HEIFWriter.size((64, 64))
        let whole = writer.add(.init(kind: kind, bytes: how, properties: [size]))
        let part = writer.add(.init(kind: "Exif", bytes: how, properties: [size]))
        writer.refer("dimg", from: whole, to: [part])
        let error = try #require(failure(of: writer.file()))
        #expect(error.code == .damaged && error.reason.contains("made of what is none"), "\(error)")
    }

    @Test
    mutating func `alpha of a part is not read, since it may be larger or smaller`() throws {
        let (_, _) = try addGrid(width: 128, height: 128)
        let opacity = writer.add(try tools.hevc(Picture.flat([9, 9, 9], side: 64)), properties: [HEIFWriter.alpha])
        writer.refer("auxl", from: opacity, to: [2])
        let error = try #require(failure(of: writer.file()))
        #expect(error.code == .unsupported && error.reason.contains("alpha"), "\(error)")
    }

    @Test
    mutating func `alpha that is smaller than its picture is damaged`() throws {
        let picture = writer.add(try tools.hevc(Picture.flat([200, 100, 50], side: 128)))
        let small = try tools.hevc(Picture.flat([128, 128, 128], side: 64))
        let opacity = writer.add(small, size: (128, 128), properties: [HEIFWriter.alpha])
        writer.refer("auxl", from: opacity, to: [picture])
        let error = try #require(failure(of: writer.file()))
        #expect(error.code == .damaged && error.reason.contains("not what its header says"), "\(error)")
    }

    @Test
    mutating func `pictures that are alpha of each other are damaged`() throws {
        let coded = try tools.hevc(Picture.flat([200, 100, 50], side: 64))
        let items = [HEIFWriter.alpha, HEIFWriter.alpha].map { writer.add(coded, properties: [$0]) }
        writer.refer("auxl", from: items[0], to: [items[1]])
        writer.refer("auxl", from: items[1], to: [items[0]])
        let error = try #require(failure(of: writer.file()))
        #expect(error.code == .damaged && error.reason.contains("made of itself"), "\(error)")
    }

    @Test
    mutating func `a picture that is predicted from others is not read`() throws {
        var coded = try tools.hevc(Picture.flat([200, 100, 50], side: 64))
        // The header of its last unit, of a picture that stands alone. 1 is one that follows others (H.265, table 7-1).
        let unit = try #require(coded.bytes.indices.first { [19, 20].contains(coded.bytes[$0] >> 1) && $0 % 4 == 0 })
        coded.bytes[unit] = 1 << 1
        _ = writer.add(coded)
        let error = try #require(failure(of: writer.file()))
        #expect(error.code == .unsupported && error.reason.contains("predicted from others"), "\(error)")
    }

    @Test
    mutating func `HEVC beside AV1 is not read, since it is not known which is the picture`() throws {
        let picture = Picture.flat([200, 100, 50], side: 64)
        _ = writer.add(try tools.hevc(picture))
        let avif = try encoded(picture, as: .avif)
        _ = writer.add(try #require(HEIFWriter.Coded(avif)))
        let error = try #require(failure(of: writer.file()))
        #expect(error.code == .unsupported && error.reason.contains("AV1"), "\(error)")
    }

    @Test
    mutating func `damage inside a picture in HEVC is told`() throws {
        var coded = try tools.hevc(Picture.sample(width: 256, height: 192))
        let middle = coded.bytes.count / 2
        for place in middle..<middle + 64 { coded.bytes[place] ^= 0x5A }
        _ = writer.add(coded)
        do throws(CodecError) {
            #expect(try decode(writer.file()).damage.isEmpty == false)
        } catch {
            #expect(error.code == .damaged, "\(error)")
        }
    }
}

extension Picture {
    static func flat(_ color: [Int], side: Int) -> Picture {
        let pixel = color.map { UInt8($0) } + [255]
        return Picture(
            width: side, height: side, layout: .rgbx8, bytes: (0..<side * side).flatMap { _ in pixel })
    }
}
