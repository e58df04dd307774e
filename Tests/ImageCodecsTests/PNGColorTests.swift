import Glibc
import ImageCodecs
import Testing

struct PNGColorTests {
    private static let p3 = BuiltInProfile.displayP3.bytes
    /// The profile in a chunk, under a name.
    private static let iccp = (kind: "iCCP", data: Array("name\0\0".utf8) + PNGWriter.stored(p3))

    private func header(_ chunks: [(kind: String, data: [UInt8])], kind: Int = 2) throws -> ImageHeader {
        var writer = PNGWriter(width: 3, height: 2) { x, _, _ in x }
        writer.kind = kind
        writer.more = chunks
        return try decode(writer.file()).header
    }

    private func gamma(_ value: Int) -> (kind: String, data: [UInt8]) { ("gAMA", PNGWriter.big(value)) }

    private func primaries(_ values: [Int]) -> (kind: String, data: [UInt8]) { ("cHRM", values.flatMap(PNGWriter.big)) }

    @Test
    func `cICP goes before a profile where it is understood`() throws {
        #expect(try header([("cICP", [12, 13, 0, 1])]).metadata.icc == PNGColorTests.p3)
        let srgb = try header([("cICP", [1, 13, 0, 1]), PNGColorTests.iccp])
        #expect(srgb.metadata.icc == nil && srgb.notes.isEmpty)
        #expect(try header([PNGColorTests.iccp]).metadata.icc == PNGColorTests.p3)
        // 2 leaves it to others to say.
        #expect(try header([("cICP", [2, 2, 0, 1]), PNGColorTests.iccp]).metadata.icc == PNGColorTests.p3)
    }

    @Test
    func `cICP that is not understood is told, and a profile takes its place`() throws {
        let pq = (kind: "cICP", data: [UInt8]([9, 16, 0, 1]))
        let alone = try header([pq])
        #expect(alone.metadata.icc == nil)
        #expect(alone.notes == ["colours with primaries 9 and transfer 16 of H.273 are taken for sRGB"])
        let both = try header([pq, PNGColorTests.iccp])
        #expect(both.metadata.icc == PNGColorTests.p3 && both.notes.isEmpty)
        let narrow = try header([("cICP", [12, 13, 0, 0])])
        #expect(narrow.metadata.icc == nil)
        #expect(narrow.notes == ["colours with matrix 0 and range 0 of H.273 are taken for sRGB"])
    }

    @Test
    func `gamma and primaries of sRGB, or beside the chunk that says sRGB, are no profile`() throws {
        let srgb = primaries([31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000])
        let chunks = [[gamma(45_455)], [srgb], [gamma(45_000), srgb], [("sRGB", [0]), gamma(100_000)]]
        for chunks in chunks {
            let header = try header(chunks)
            #expect(header.metadata.icc == nil && header.notes.isEmpty, "\(chunks)")
        }
    }

    @Test(arguments: [0, 2])
    func `linear light becomes sRGB by the profile that is made of its gamma`(kind: Int) throws {
        let header = try header([gamma(100_000)], kind: kind)
        let icc = try #require(header.metadata.icc)
        #expect(header.notes.isEmpty)
        #expect(ColorProfile.channels(of: icc) == (kind == 0 ? "GRAY" : "RGB "))
        var pixel: [UInt8] = [55, 55, 55, 255]
        let transform = try ColorTransform(from: icc, layout: .rgbx8, to: .sRGB)
        pixel.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            transform.apply(to: start, strideBytes: 4, width: 1, count: 1)
        }
        let exact = 255 * (1.055 * pow(55.0 / 255, 1 / 2.4) - 0.055)
        #expect(pixel[..<3].allSatisfy { abs(Double($0) - exact) < 1 }, "\(pixel) for \(exact)")
    }

    @Test
    func `primaries become those of a profile`() throws {
        let chunk = primaries([31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000])
        let icc = try #require(try header([gamma(45_455), chunk]).metadata.icc)
        let curves = try #require(ProfileCurves(of: icc, entries: 256, inverseEntries: 2))
        let known = try #require(ProfileCurves(of: PNGColorTests.p3, entries: 256, inverseEntries: 2))
        #expect(zip(curves.matrix, known.matrix).allSatisfy { abs($0 - $1) < 0.001 })
        #expect(abs(Double(curves.linear[0][128]) - pow(128.0 / 255, 2.2)) < 0.001)
        // A profile goes before both.
        #expect(try header([PNGColorTests.iccp, gamma(100_000)]).metadata.icc == PNGColorTests.p3)
    }

    @Test
    func `gamma and primaries that cannot be are told`() throws {
        let note = "its gamma and primaries cannot be, and are taken for sRGB's"
        for chunk in [gamma(1), primaries([31_270, 32_900] + [Int](repeating: 30_000, count: 6))] {
            let header = try header([chunk])
            #expect(header.metadata.icc == nil)
            #expect(header.notes == [note])
        }
    }
}
