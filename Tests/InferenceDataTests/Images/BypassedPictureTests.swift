import ImageCodecs
import Inference
import InferenceData
import Testing

/// What a model does not see of a picture goes beside it.
@Suite struct BypassedPictureTests {
    private static func read(_ file: [UInt8], _ channels: ImagePreset.Channels = .rgb) throws -> ImageReader.Result {
        var preset = ImagePreset.unit
        preset.channels = channels
        return try file.withUnsafeBytes { try ImageReader().read(bytes: $0, preset: preset, keepsBypassed: true) }
    }

    /// The picture that comes of a model's result, with 16 bits.
    private static func written(_ tensor: Tensor, _ bypassed: BypassedPicture?, bits: Int = 16) throws -> [UInt16] {
        var file: [UInt8] = []
        try PictureEncoder(bitsPerChannel: bits).encode(tensor, bypassed: bypassed) { file = Array($0) }
        return try file.withUnsafeBytes { bytes in
            let decoder = try CodecRegistry.decoder(for: bytes, limits: DecodeLimits())
            let (width, height) = try decoder.start(scaleEighths: 8)
            try #require(decoder.header.layout == .rgba16)
            var samples = [UInt16](repeating: 0, count: 4 * width * height)
            var row = 0
            try samples.withUnsafeMutableBytes { rows in
                let base = try #require(rows.baseAddress)
                while row < height {
                    row += try decoder.readRows(
                        into: base + row * 8 * width, strideBytes: 8 * width, count: height - row)
                }
            }
            return samples
        }
    }

    /// Colours everywhere, clear to the left, seen in part in the middle, and full to the right.
    private static let veiled = TestPicture(width: 24, height: 10, isWide: true) { x, y in
        let alpha = x < 6 ? 0 : x < 12 ? 4_000 * x + 300 : 65_535
        return [x * 2_500, y * 6_000, (x + y) * 1_500, alpha]
    }

    @Test func whatAModelOfItsColoursLeavesAloneIsThePictureWithItsAlpha() throws {
        let read = try Self.read(try Self.veiled.file(hasAlpha: true))
        let made = try Self.written(read.tensor, read.bypassed)
        for (place, wanted) in Self.veiled.samples.enumerated() where Self.veiled.samples[place | 3] > 0 {
            #expect(abs(Int(made[place]) - Int(wanted)) <= 1, "sample \(place)")
        }
        #expect(stride(from: 3, to: made.count, by: 4).allSatisfy { made[$0] == Self.veiled.samples[$0] })
    }

    @Test func clearPartsHaveTheColourOfTheNearestPixelThatIsSeen() throws {
        let values = try Self.read(try Self.veiled.file(hasAlpha: true)).tensor.elements(as: Float.self)
        for y in 0..<10 {
            for channel in 0..<3 {
                let row = (channel * 10 + y) * 24
                #expect((0..<6).allSatisfy { values[row + $0] == values[row + 6] }, "row \(y)")
            }
        }
        // Nothing is seen: there is no colour to have.
        let clear = try TestPicture(width: 5, height: 4) { x, _ in [x * 40, 9, 9, 0] }.file(hasAlpha: true)
        #expect(try Self.read(clear).tensor.elements(as: Float.self).allSatisfy { $0 == 0 })
    }

    @Test(arguments: [false, true])
    func whatAModelOfLumaLeavesAloneIsThePictureWithItsColours(hasAlpha: Bool) throws {
        var picture = Self.veiled
        if !hasAlpha {
            for place in stride(from: 3, to: picture.samples.count, by: 4) { picture.samples[place] = .max }
        }
        let read = try Self.read(try picture.file(hasAlpha: hasAlpha), .gray)
        #expect(read.tensor.shape == [1, 1, 10, 24])
        let bypassed = try #require(read.bypassed)
        #expect(bypassed.hasColors && bypassed.hasAlpha == hasAlpha)
        let made = try Self.written(read.tensor, bypassed)
        for (place, wanted) in picture.samples.enumerated() where picture.samples[place | 3] > 0 {
            #expect(abs(Int(made[place]) - Int(wanted)) <= 2, "sample \(place)")
        }
    }

    @Test func aModelThatBrightensLumaMovesEachChannelByTheSame() throws {
        let picture = TestPicture(width: 8, height: 8) { x, y in [60 + 10 * x, 80 + 8 * y, 120] }
        let read = try Self.read(try picture.file(), .gray)
        let brighter = try Tensor(.float32, shape: read.tensor.shape, doubles: read.tensor.doubles().map { $0 + 0.125 })
        let made = try Self.written(brighter, read.bypassed)
        for (place, code) in picture.samples.enumerated() where place % 4 != 3 {
            #expect(abs(Int(made[place]) - Int(code) * 257 - 8_192) <= 2, "sample \(place)")
        }
    }

    @Test func aGrayPictureLacksNothingAndAnOpaqueOneHasNoAlpha() throws {
        let gray = try Tensor(.float32, shape: [1, 6, 6], doubles: (0..<36).map { Double($0) / 35 })
        var file: [UInt8] = []
        try PictureEncoder().encode(gray) { file = Array($0) }
        #expect(try Self.read(file, .gray).bypassed == nil)
        #expect(try Self.read(try TestPicture.formula(9, 7).file()).bypassed == nil)
    }

    @Test func whereAFormatHasNoAlphaClearPartsAreLaidOverTheMatte() throws {
        let picture = TestPicture(width: 16, height: 16) { _, _ in [200, 40, 40, 0] }
        let read = try Self.read(try picture.file(hasAlpha: true))
        var encoder = PictureEncoder(format: .jpeg, quality: 95)
        encoder.matte = [10, 200, 30]
        var file: [UInt8] = []
        try encoder.encode(read.tensor, bypassed: read.bypassed) { file = Array($0) }
        let values = try Self.read(file).tensor.elements(as: Float.self)
        for (channel, code) in encoder.matte.enumerated() {
            #expect(abs(values[channel * 256 + 100] * 255 - Float(code)) < 3)
        }
    }
}
