import ImageCodecs
import Inference
import InferenceData
import Testing

@Suite struct PictureEncoderTests {
    private static func file(_ tensor: Tensor, _ encoder: PictureEncoder) throws -> [UInt8] {
        var file: [UInt8] = []
        try encoder.encode(tensor) { bytes in file = Array(bytes) }
        return file
    }

    @Test func picturesOfBothDepthsAreReadBack() throws {
        let (width, height) = (37, 21)
        let values = (0..<(3 * width * height)).map { Double($0 * 7_919 % 65_536) / 65_535 }
        let tensor = try Tensor(.float32, shape: [1, 3, height, width], doubles: values)
        for (bits, tolerance) in [(8, 0.5 / 255), (16, 0.5 / 65_535)] {
            let file = try Self.file(tensor, PictureEncoder(bitsPerChannel: bits))
            let again = try ImageReader().read(file: file, preset: .unit).tensor
            #expect(again.shape == [1, 3, height, width])
            let worst = zip(again.doubles(), values).map { abs($0 - $1) }.max()
            #expect((worst ?? .infinity) <= tolerance * 1.05, "\(bits) bits")
        }
        let jpeg = try Self.file(tensor, PictureEncoder(format: .jpeg, quality: 90))
        #expect(jpeg.starts(with: [0xFF, 0xD8]))
    }

    @Test func grayPicturesAndOtherShapesWork() throws {
        let tensor = try Tensor(.float16, shape: [1, 8, 8], doubles: (0..<64).map { Double($0) / 63 })
        let file = try Self.file(tensor, PictureEncoder())
        try file.withUnsafeBytes { bytes in
            let header = try CodecRegistry.decoder(for: bytes, limits: DecodeLimits()).header
            #expect(header.isGray && header.width == 8)
        }
    }

    @Test func valuesOutsideAreClippedAndNoNumbersAreBlack() throws {
        let tensor = try Tensor(
            .float32, shape: [3, 1, 4], doubles: [-1, 2, .nan, .infinity, 0, 0.5, 1, -.infinity, 0, 0, 0, 0])
        let file = try Self.file(tensor, PictureEncoder())
        var preset = ImagePreset.unit
        preset.scale = 1
        let values = try ImageReader().read(file: file, preset: preset).tensor.doubles()
        #expect(Array(values[..<8]) == [0, 255, 0, 255, 0, 128, 255, 0])
    }

    @Test func whatIsNoPictureIsRefused() throws {
        for shape in [[2, 4, 4], [3, 4], [2, 3, 4, 4], [3, 0, 4]] {
            let tensor = try Tensor(.float32, shape: shape)
            #expect(
                dataError { () throws(DataError) in try PictureEncoder().encode(tensor) { _ in } }?.code == .mismatch)
        }
        let tensor = try Tensor(.float32, shape: [3, 4, 4])
        for encoder in [PictureEncoder(format: .jpeg, bitsPerChannel: 16), PictureEncoder(bitsPerChannel: 12)] {
            #expect(dataError { () throws(DataError) in try encoder.encode(tensor) { _ in } }?.code == .mismatch)
        }
        let gif = PictureEncoder(format: .gif)
        #expect(dataError { () throws(DataError) in try gif.encode(tensor) { _ in } }?.code == .notWritable)
    }

    @Test func anErrorOfTheReceiverIsHandedOn() throws {
        let tensor = try Tensor(.float32, shape: [3, 4, 4])
        let error = dataError { () throws(DataError) in
            try PictureEncoder().encode(tensor) { _ throws(DataError) in _ = try ImagePreset.parse("") }
        }
        #expect(error?.code == .damaged)
    }
}
