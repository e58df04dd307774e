import Foundation
import ImageCodecs
import Testing

/// Raw files that hold less of their sensor's values than they promise.
struct RawExtentTests {
    private func failure(_ file: [UInt8]) -> CodecError? {
        do throws(CodecError) {
            _ = try decode(file)
            return nil
        } catch {
            return error
        }
    }

    /// Damage is told, or the file refused for it.
    private func isToldAsDamage(_ file: [UInt8]) -> Bool {
        do throws(CodecError) {
            return !(try decode(file).damage.isEmpty)
        } catch {
            return error.code == .damaged
        }
    }

    @Test
    func `tiles of lossless JPEG are developed as the same values in strips`() throws {
        let tiles = try decode(DNGWriter(storage: .losslessTiles).file())
        let strips = try decode(DNGWriter(storage: .strips).file())
        #expect(tiles.damage.isEmpty && strips.damage.isEmpty)
        #expect(tiles.picture == strips.picture)
        // Half red, half blue.
        let (red, blue) = (tiles.samples(12, 24), tiles.samples(52, 24))
        #expect(red[0] > red[2] * 2 && blue[2] > blue[0] * 2)
    }

    @Test(arguments: [DNGWriter.Storage.strips, .losslessTiles])
    func `a file that is cut off anywhere in its values is damaged`(storage: DNGWriter.Storage) {
        let writer = DNGWriter(storage: storage, width: 96, height: 64)
        let (file, start) = (writer.file(), writer.valuesStart)
        for part in 0..<20 {
            let end = start + (file.count - start) * part / 20
            #expect(isToldAsDamage(Array(file.prefix(end))), "cut off at \(end) of \(file.count)")
        }
    }

    @Test
    func `a file of metadata alone, whose parts are said to be a few bytes, is damaged`() {
        for storage in [DNGWriter.Storage.strips, .losslessTiles] {
            var writer = DNGWriter(storage: storage)
            writer.claimedBytes = 22
            let file = Array(writer.file().prefix(writer.valuesStart + 400))
            #expect(isToldAsDamage(file), "\(storage)")
        }
    }

    @Test
    func `a tile that the library cannot begin with is told`() throws {
        let writer = DNGWriter(storage: .losslessTiles, width: 96, height: 64)
        var file = writer.file()
        let starts = file.indices.dropLast(1).filter { file[$0] == 0xFF && file[$0 + 1] == 0xD8 }
        try #require(starts.count == 6)
        file[starts[3] + 1] = 0xD7
        #expect(isToldAsDamage(file))
    }

    @Test
    func `values beyond those of their bits, which the library tells by a call alone, are damage`() throws {
        var writer = DNGWriter(storage: .losslessTiles)
        writer.jpegBits = 12
        #expect(try !decode(writer.file()).damage.isEmpty)
    }

    @Test
    func `what the library cannot unpack is unsupported, and not damaged`() {
        #expect(failure(DNGWriter(storage: .deflatedTiles).file())?.code == .unsupported)
        #expect(failure(DNGWriter(storage: .tiles).file())?.code == .unsupported)
        var apart = DNGWriter(storage: .strips)
        apart.gap = 6
        #expect(failure(apart.file())?.code == .unsupported)
    }

    /// A film of one track, whose sample lies where it is said.
    private func film(samplePlace: Int, bytes: Int) -> [UInt8] {
        let table =
            Box.of("stsz", Box.big(0, 4) + Box.big(bytes, 4) + Box.big(1, 4))
            + Box.of("co64", Box.big(0, 4) + Box.big(1, 4) + Box.big(samplePlace, 8))
        let track = Box.of("trak", Box.of("mdia", Box.of("minf", Box.of("stbl", table))))
        return Box.of("ftyp", Array("crx ".utf8) + Box.big(1, 4) + Array("crx isom".utf8)) + Box.of("moov", track)
            + Box.of("mdat", [UInt8](repeating: 0, count: 64))
    }

    @Test
    func `other kinds that end before what they promise are damaged, not unsupported`() {
        // Canon's CR3: its sample beyond the end, and the box with its samples.
        #expect(failure(film(samplePlace: 200, bytes: 5_000))?.code == .damaged)
        #expect(failure(Array(film(samplePlace: 200, bytes: 4).dropLast(10)))?.code == .damaged)
        let inside = failure(film(samplePlace: 100, bytes: 4))
        #expect(inside?.reason != failure(film(samplePlace: 100, bytes: 5_000))?.reason)
        // Fujifilm's header says where the values are; Sigma's and Canon's older one end with the place of their directory.
        var fujifilm = Array("FUJIFILMCCD-RAW 0201".utf8) + [UInt8](repeating: 0, count: 180)
        fujifilm.replaceSubrange(0x64..<0x6C, with: Box.big(190, 4) + Box.big(1_000, 4))
        #expect(failure(fujifilm)?.code == .damaged)
        let sigma = Array("FOVb".utf8) + [UInt8](repeating: 7, count: 60)
        #expect(failure(sigma)?.code == .damaged)
        let whole = sigma + Array("SECd".utf8) + [UInt8](repeating: 0, count: 8) + [64, 0, 0, 0]
        #expect(failure(whole)?.code == .unsupported)
        let canon: [UInt8] = [0x49, 0x49, 0x1A, 0, 0, 0] + Array("HEAPCCDR".utf8) + [UInt8](repeating: 9, count: 60)
        #expect(failure(canon)?.code == .damaged)
    }
}
