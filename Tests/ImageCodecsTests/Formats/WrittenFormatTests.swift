import ImageCodecs
import Testing

struct WrittenFormatTests {
    @Test(arguments: [ImageFormat.tiff, .jxl, .avif], [PixelLayout.rgbx8, .rgba8])
    func `lossless pictures come back exactly`(format: ImageFormat, layout: PixelLayout) throws {
        for (width, height) in [(1, 1), (1, 33), (33, 1), (65, 67)] {
            let picture = Picture.sample(width: width, height: height, layout: layout)
            let decoded = try decode(try encoded(picture, as: format) { $0.lossless = true })
            #expect(decoded.damage.isEmpty)
            // Where every alpha is full, AVIF leaves it out.
            #expect(decoded.picture.bytes == picture.bytes, "\(width) × \(height)")
        }
    }

    @Test(arguments: [ImageFormat.tiff, .jxl])
    func `16 bits come back exactly where nothing is lost`(format: ImageFormat) throws {
        let picture = Picture.sample(width: 40, height: 30, layout: .rgba16)
        let decoded = try decode(try encoded(picture, as: format) { $0.lossless = true })
        #expect(decoded.header.bitsPerChannel == 16)
        #expect(decoded.picture == picture)
    }

    @Test(arguments: [ImageFormat.tiff, .jxl, .avif])
    func `bands of any height give the same file`(format: ImageFormat) throws {
        let picture = Picture.sample(width: 67, height: 131, layout: .rgba8)
        let whole = try encoded(picture, as: format, band: 131)
        #expect(try encoded(picture, as: format, band: 1) == whole)
        #expect(try encoded(picture, as: format, band: 47) == whole)
    }

    @Test(arguments: [(1, 40), (1023, 520), (1024, 512), (2048, 520), (4096, 513)])
    func `the cores that encode an AVIF change no byte`(width: Int, height: Int) throws {
        let picture = Picture.sample(width: width, height: height)
        let one = try encoded(picture, as: .avif)
        for cores in [2, 3, 16] {
            #expect(try encoded(picture, as: .avif) { $0.cores = cores } == one, "\(cores) cores")
        }
        #expect(try decode(one).header.width == width)
    }

    @Test
    func `an AVIF is expected sooner from as many cores as it has columns`() {
        func seconds(_ format: ImageFormat, width: Int, cores: Int) -> Double {
            EncodeRequest(format: format, width: width, height: 1000, layout: .rgbx8, cores: cores).expectedSeconds
        }
        #expect(seconds(.avif, width: 1000, cores: 8) == seconds(.avif, width: 1000, cores: 1))
        #expect(seconds(.avif, width: 2048, cores: 2) == seconds(.avif, width: 2048, cores: 1) / 2)
        #expect(seconds(.avif, width: 2048, cores: 16) == seconds(.avif, width: 2048, cores: 1) / 4)
        // Low ones have less to share.
        let low = EncodeRequest(format: .avif, width: 4200, height: 60, layout: .rgbx8, cores: 8)
        #expect(low.expectedSeconds == CodecCost.encoding(.avif) * 0.252)
        #expect(seconds(.jxl, width: 2048, cores: 16) == seconds(.jxl, width: 2048, cores: 1))
    }

    @Test(arguments: [ImageFormat.tiff, .jxl, .avif])
    func `gray pictures are written as gray`(format: ImageFormat) throws {
        let picture = Picture.sample(width: 40, height: 30, isGray: true)
        let decoded = try decode(
            try encoded(picture, as: format) {
                $0.isGray = true
                $0.lossless = true
            })
        #expect(decoded.header.isGray)
        #expect(decoded.picture == picture)
    }

    @Test(arguments: [ImageFormat.jxl, .avif])
    func `metadata comes back byte for byte`(format: ImageFormat) throws {
        let metadata = ImageMetadata(
            exif: MetadataTests.exif(isBigEndian: false), xmp: Array("<x:xmpmeta/>".utf8),
            icc: BuiltInProfile.adobeRGB.bytes)
        let decoded = try decode(
            try encoded(Picture.sample(width: 8, height: 8), as: format) {
                $0.metadata = metadata
                $0.lossless = true
            })
        #expect(decoded.header.metadata.exif == metadata.exif)
        #expect(decoded.header.metadata.xmp == metadata.xmp)
        #expect(decoded.header.metadata.icc == metadata.icc)
        // What EXIF says about it is for the pipeline to make true, and nothing turns such a picture twice.
        #expect(decoded.header.orientation == 1)
    }

    @Test
    func `better quality takes more bytes in every lossy format`() throws {
        let picture = Picture.sample(width: 200, height: 150)
        for format in ImageFormat.allCases where format.defaultQuality != nil {
            let sizes = try [1, 30, 60, 95].map { quality in
                try encoded(picture, as: format) { $0.quality = quality }.count
            }
            #expect(zip(sizes, sizes.dropFirst()).allSatisfy(<), "\(format) \(sizes)")
        }
    }

    /// The quick settings are chosen to cost bytes, not more than 4 dB.
    @Test(arguments: [ImageFormat.webp, .avif, .jxl])
    func `a quick encode is about as near to the picture as an optimized one`(format: ImageFormat) throws {
        let picture = Picture.sample(width: 256, height: 192)
        func error(optimize: Bool) throws -> Int {
            let decoded = try decode(try encoded(picture, as: format) { $0.optimize = optimize })
            return zip(decoded.picture.bytes, picture.bytes).reduce(0) { sum, pair in
                let difference = Int(pair.0) - Int(pair.1)
                return sum + difference * difference
            }
        }
        let quick = try error(optimize: false)
        let optimized = try error(optimize: true)
        #expect(quick > 0 && optimized > 0, "nothing was lost")
        #expect(Double(quick) <= 2.5 * Double(optimized), "\(quick) and \(optimized)")
    }

    @Test
    func `an encode of JPEG XL ends when the pulse says so`() throws {
        let picture = Picture.sample(width: 300, height: 300)
        var asked = 0
        let pulse = CodecPulse {
            asked += 1
            return false
        }
        let request = EncodeRequest(format: .jxl, width: 300, height: 300, layout: .rgbx8)
        let encoder = try CodecRegistry.encoder(for: request)
        encoder.pulse = pulse
        try picture.bytes.withUnsafeBytes { bytes in
            try encoder.writeRows(try #require(bytes.baseAddress), strideBytes: 1_200, count: 300)
        }
        #expect(throws: CodecError(.stopped, "Asked to stop")) { try encoder.finish { _ in } }
        #expect(asked > 0)
    }

    @Test
    func `formats that are only read are not written`() {
        for format in ImageFormat.allCases where !format.isWritten {
            #expect(throws: CodecError(.encode, "\(format.name) is read but not written")) {
                try CodecRegistry.encoder(
                    for: EncodeRequest(format: format, width: 8, height: 8, layout: .rgbx8))
            }
        }
    }

    @Test
    func `a raw file without a preview says what does without`() throws {
        let file = RawWriter.file(orientation: 1)
        #expect(throws: CodecError(.unsupported, "The raw file has no preview; --raw develop does without")) {
            try file.withUnsafeBytes {
                _ = try CodecRegistry.decoder(for: $0, limits: DecodeLimits(), raw: .preview)
            }
        }
    }
}
