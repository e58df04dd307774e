import ImageCodecs
import Inference
import InferenceData
import Testing

@Suite struct ImageReaderTests {
    /// Codes as they are.
    private static func plain(
        _ resize: ImagePreset.Resize = .none, _ size: ImagePreset.Size? = nil, crop: Int? = nil,
        filter: ImagePreset.Filter = .bilinear
    ) -> ImagePreset {
        var preset = ImagePreset()
        preset.resize = resize
        preset.size = size
        preset.crop = crop.map { ImagePreset.Size(width: $0, height: $0) }
        preset.filter = filter
        preset.scale = 1
        return preset
    }

    private static func square(_ side: Int) -> ImagePreset.Size { ImagePreset.Size(width: side, height: side) }

    /// Levels of the tensor `[1, 3, height, width]` by which the facts are missed at most.
    private static func largestError(_ tensor: Tensor, _ facts: [PillowFacts.Pixel]) -> Double {
        let values = tensor.doubles()
        let (height, width) = (tensor.shape[2], tensor.shape[3])
        return facts.map { fact in
            (0..<3).map { channel in
                abs(values[(channel * height + fact.y) * width + fact.x] - Double(fact.rgb[channel]))
            }.max() ?? .infinity
        }.max() ?? .infinity
    }

    @Test func resizesAndCropsAreThoseOfPillow() throws {
        let reader = ImageReader()
        let cases: [(TestPicture, ImagePreset, [Int], [PillowFacts.Pixel])] = [
            (
                .formula(211, 157), Self.plain(.shorter, Self.square(64), crop: 56), [56, 56],
                PillowFacts.bilinearShrunk
            ),
            (
                .formula(157, 211), Self.plain(.shorter, Self.square(64), crop: 64, filter: .bicubic), [64, 64],
                PillowFacts.bicubicShrunk
            ),
            (
                .formula(211, 157), Self.plain(.shorter, Self.square(50), filter: .lanczos), [50, 67],
                PillowFacts.lanczosShrunk
            ),
            (.formula(61, 47), Self.plain(.shorter, Self.square(100), crop: 91), [91, 91], PillowFacts.bilinearGrown),
            (
                .formula(61, 47), Self.plain(.shorter, Self.square(100), crop: 91, filter: .bicubic), [91, 91],
                PillowFacts.bicubicGrown
            ),
            (
                .formula(211, 157), Self.plain(.exact, ImagePreset.Size(width: 40, height: 90)), [90, 40],
                PillowFacts.bilinearExact
            ),
        ]
        for (picture, preset, size, facts) in cases {
            let result = try reader.read(file: picture.file(), preset: preset)
            #expect(result.tensor.shape == [1, 3] + size)
            #expect(result.damage == [] && result.header.format == .png)
            #expect(Self.largestError(result.tensor, facts) <= 2, "\(preset.resize) \(preset.filter)")
        }
    }

    @Test func aPictureAsItIsKeepsItsCodes() throws {
        let picture = TestPicture.formula(37, 23)
        let tensor = try ImageReader().read(file: picture.file(), preset: .unit).tensor
        #expect(tensor.shape == [1, 3, 23, 37])
        let values = tensor.elements(as: Float.self)
        for (place, value) in values.enumerated() {
            let (channel, pixel) = place.quotientAndRemainder(dividingBy: 23 * 37)
            let expected = Float(picture.code(pixel % 37, pixel / 37, channel)) / 255
            #expect(abs(value - expected) < 1e-6)
        }
    }

    @Test func meanAndDeviationOfImageNetAreApplied() throws {
        let picture = TestPicture(width: 300, height: 280) { _, _ in [255, 128, 0] }
        let tensor = try ImageReader().read(file: picture.file(), preset: .imagenet).tensor
        #expect(tensor.shape == [1, 3, 224, 224])
        let values = tensor.doubles()
        // (1 - 0.485) / 0.229, (128/255 - 0.456) / 0.224, -0.406 / 0.225
        for (channel, expected) in [2.2489083, 0.2051821, -1.8044444].enumerated() {
            let plane = values[(channel * 224 * 224)..<((channel + 1) * 224 * 224)]
            #expect(plane.allSatisfy { abs($0 - expected) < 1e-5 })
        }
    }

    @Test func everyOrientationGivesTheUprightPicture() throws {
        let picture = TestPicture.formula(90, 61)
        let reader = ImageReader()
        var presets = [
            Self.plain(.shorter, Self.square(40), crop: 33), Self.plain(.letterbox, Self.square(64)),
            Self.plain(.none, crop: 50), Self.plain(),
        ]
        // The crop cuts one side and leaves room on the other.
        presets[2].crop = ImagePreset.Size(width: 51, height: 80)
        for preset in presets {
            let upright = try reader.read(file: picture.file(), preset: preset)
            let wanted = upright.tensor.doubles()
            for orientation in 2...8 {
                let file = try picture.stored(orientation: orientation).file(orientation: orientation)
                let result = try reader.read(file: file, preset: preset)
                #expect(result.tensor.shape == upright.tensor.shape)
                #expect(result.placement == upright.placement)
                let worst = zip(result.tensor.doubles(), wanted).map { abs($0 - $1) }.max()
                // Rows before columns, or columns before rows: they round at different places.
                #expect((worst ?? .infinity) <= 1, "orientation \(orientation), \(preset.resize)")
            }
        }
    }

    @Test func clearPartsShowTheFill() throws {
        let picture = TestPicture(width: 40, height: 40) { x, _ in x < 20 ? [200, 100, 0, 0] : [200, 100, 0, 255] }
        var preset = Self.plain()
        preset.fill = [10, 20, 30]
        for size in [nil, Self.square(20)] {
            preset.resize = size == nil ? .none : .exact
            preset.size = size
            let tensor = try ImageReader().read(file: picture.file(hasAlpha: true), preset: preset).tensor
            let values = tensor.doubles()
            let area = tensor.shape[2] * tensor.shape[3]
            for (channel, (clear, full)) in zip([10.0, 20, 30], [200.0, 100, 0]).enumerated() {
                #expect(abs(values[channel * area] - clear) <= 1)
                #expect(abs(values[(channel + 1) * area - 1] - full) <= 1)
            }
        }
    }

    @Test func sixteenBitsKeepTheirFraction() throws {
        let picture = TestPicture(width: 8, height: 8, isWide: true) { _, _ in [32_768, 257, 65_535] }
        let values = try ImageReader().read(file: picture.file(), preset: Self.plain()).tensor.doubles()
        #expect(abs(values[0] - 32_768.0 / 257) < 0.01)
        #expect(abs(values[64] - 1) < 0.01 && abs(values[128] - 255) < 0.01)
    }

    @Test func profilesAreConvertedToSRGB() throws {
        let picture = TestPicture(width: 8, height: 8) { _, _ in [200, 100, 50] }
        let file = try picture.file(icc: BuiltInProfile.displayP3.bytes)
        let values = try ImageReader().read(file: file, preset: Self.plain()).tensor.doubles()
        // Display P3 to sRGB by the matrices of both, in linear light (IEC 61966-2-1).
        for (channel, expected) in [214.9, 92.6, 31.0].enumerated() {
            #expect(abs(values[channel * 64] - expected) <= 1.5, "channel \(channel): \(values[channel * 64])")
        }
    }

    @Test func channelsAndAxesComeInTheOrderOfThePreset() throws {
        let picture = TestPicture.formula(61, 47)
        let file = try picture.file()
        var preset = Self.plain()
        preset.channels = .bgr
        preset.layout = .nhwc
        let tensor = try ImageReader().read(file: file, preset: preset).tensor
        #expect(tensor.shape == [1, 47, 61, 3])
        let values = tensor.doubles()
        for (x, y) in [(0, 0), (60, 46), (13, 7)] {
            let pixel = (0..<3).map { Int(values[(y * 61 + x) * 3 + $0]) }
            #expect(pixel == [2, 1, 0].map { picture.code(x, y, $0) })
        }
        preset.channels = .gray
        preset.layout = .nchw
        let gray = try ImageReader().read(file: file, preset: preset).tensor
        #expect(gray.shape == [1, 1, 47, 61])
        let luma = gray.doubles()
        for fact in PillowFacts.gray { #expect(Int(luma[fact.y * 61 + fact.x]) == fact.code) }
    }

    @Test func otherElementTypesHoldTheSameValues() throws {
        let file = try TestPicture.formula(20, 10).file()
        let reader = ImageReader()
        let plain = try reader.read(file: file, preset: Self.plain()).tensor
        for type in [ElementType.float16, .float64, .uint8] {
            let tensor = try file.withUnsafeBytes { bytes in
                try reader.read(bytes: bytes, preset: Self.plain(), as: type).tensor
            }
            #expect(tensor.elementType == type && tensor.doubles() == plain.doubles())
        }
        let error = file.withUnsafeBytes { bytes in
            dataError { () throws(DataError) in try reader.read(bytes: bytes, preset: Self.plain(), as: .int64) }
        }
        #expect(error?.code == .unsupported)
    }

    @Test func aLetterboxIsFilledAroundThePictureAndMappedBack() throws {
        let picture = TestPicture(width: 200, height: 100) { _, _ in [255, 255, 255] }
        var preset = ImagePreset.yolo
        preset.size = Self.square(64)
        let result = try ImageReader().read(file: picture.file(), preset: preset)
        #expect(result.tensor.shape == [1, 3, 64, 64])
        let values = result.tensor.doubles()
        for y in 0..<64 {
            let isPicture = (16..<48).contains(y)
            #expect(abs(values[y * 64 + 30] - (isPicture ? 1 : 114.0 / 255)) < 1e-6, "row \(y)")
        }
        let corner = result.placement.original(x: 64, y: 48)
        #expect(corner == (200, 100))
        let origin = result.placement.original(x: 0, y: 16)
        #expect(origin == (0, 0))
    }

    @Test func jpegsMayBeDecodedSmaller() throws {
        let picture = TestPicture(width: 640, height: 480) { x, y in [x * 255 / 640, y * 255 / 480, 128] }
        let file = try picture.file(.jpeg)
        var preset = Self.plain(.shorter, Self.square(60))
        let reader = ImageReader()
        let full = try reader.read(file: file, preset: preset).tensor
        preset.reducedDecoding = true
        let reduced = try reader.read(file: file, preset: preset).tensor
        #expect(reduced.shape == [1, 3, 60, 80] && full.shape == reduced.shape)
        let differences = zip(full.doubles(), reduced.doubles()).map { abs($0 - $1) }
        #expect((differences.max() ?? .infinity) <= 3)
        #expect(differences.contains { $0 > 0 }, "nothing was decoded smaller")
    }

    @Test func aFileIsReadThroughItsDescriptor() throws {
        let picture = TestPicture.formula(30, 20)
        let file = try TestFile(picture.file())
        let result = try ImageReader().read(descriptor: file.descriptor, preset: .unit)
        #expect(result.tensor.shape == [1, 3, 20, 30])
        let empty = try TestFile()
        #expect(
            dataError { () throws(DataError) in
                try ImageReader().read(descriptor: empty.descriptor, preset: .unit)
            }?.code == .unknownFormat)
        #expect(
            dataError { () throws(DataError) in
                try ImageReader().read(descriptor: -1, preset: .unit)
            }?.code == .notReadable)
    }
}
