import ImageCodecs
import Testing

struct JXLBoxTests {
    /// 40 MiB of blanks as Brotli packs them.
    private static let blanks: [UInt8] = [
        0xCF, 0xFF, 0xFF, 0x7F, 0x00, 0x24, 0x40, 0xE2, 0xB1, 0x40, 0x72, 0xEF, 0xFF,
        0xF9, 0xFF, 0xFF, 0x0F, 0x80, 0x04, 0x40, 0x1C, 0x16, 0x80, 0xEE, 0xFD, 0x7F,
        0xFE, 0xFF, 0xFF, 0x01, 0x90, 0x00, 0x88, 0xC3, 0x02, 0xD0, 0xBD, 0xFF, 0x03,
    ]

    @Test
    func `metadata that is packed takes no more than a file of that size may have`() throws {
        let picture = try encoded(Picture.sample(width: 24, height: 18), as: .jxl)
        // A codestream begins so; the encoder may have put it into boxes already.
        let isBare = picture.starts(with: [0xFF, 0x0A])
        let boxes =
            isBare
            ? Box.of("JXL ", [0x0D, 0x0A, 0x87, 0x0A])
                + Box.of("ftyp", Array("jxl ".utf8) + [0, 0, 0, 0] + Array("jxl ".utf8))
                + Box.of("jxlc", picture)
            : picture
        #expect(try decode(boxes).picture.width == 24)
        do throws(CodecError) {
            _ = try decode(boxes + Box.of("brob", Array("xml ".utf8) + JXLBoxTests.blanks))
            Issue.record("it was decoded")
        } catch {
            #expect(error.code == .limit && error.reason.contains("metadata is too large"), "\(error)")
        }
    }
}
