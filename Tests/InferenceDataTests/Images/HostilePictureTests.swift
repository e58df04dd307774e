import ImageCodecs
import Inference
import InferenceData
import Testing

/// Damaged and malicious pictures end in one error, or in a result that tells the damage.
@Suite struct HostilePictureTests {
    private static func error(
        _ file: [UInt8], _ preset: ImagePreset = .imagenet, limits: DecodeLimits = DecodeLimits(),
        shouldStop: @escaping () -> Bool = { false }
    ) -> DataError? {
        file.withUnsafeBytes { bytes in
            dataError { () throws(DataError) in
                try ImageReader().read(bytes: bytes, preset: preset, limits: limits, shouldStop: shouldStop)
            }
        }
    }

    /// As an export tells it, which passes such files over where nobody named them.
    @Test func whatIsNoPictureIsOfNoKnownFormat() {
        #expect(Self.error([])?.code == .unknownFormat)
        #expect(Self.error(Array("a text of some length, and no picture".utf8))?.code == .unknownFormat)
    }

    @Test(arguments: [ImageFormat.png, .jpeg, .webp])
    func aFileCutAnywhereIsAnErrorOrTellsItsDamage(format: ImageFormat) throws {
        let file = try TestPicture.formula(40, 30).file(format)
        let reader = ImageReader()
        var told = 0
        for count in stride(from: 0, to: file.count - 16, by: 7) {
            do {
                let result = try reader.read(file: Array(file.prefix(count)), preset: .unit)
                #expect(result.tensor.shape == [1, 3, 30, 40])
                if !result.damage.isEmpty { told += 1 }
            } catch let error as DataError {
                #expect(!error.sentence.isEmpty)
                told += 1
            }
        }
        #expect(told == (file.count - 16 + 6) / 7)
    }

    @Test func limitsOfDecodingHold() throws {
        let file = try TestPicture.formula(100, 80).file()
        var limits = DecodeLimits()
        limits.maxPixels = 7_999
        #expect(Self.error(file, limits: limits)?.code == .tooLarge)
        limits = DecodeLimits()
        limits.maxFileBytes = file.count - 1
        #expect(Self.error(file, limits: limits)?.code == .tooLarge)
        limits = DecodeLimits()
        // That may go well with more memory.
        limits.maxWorkingBytes = 100_000
        #expect(Self.error(file, limits: limits)?.code == .memoryShare)
    }

    @Test func aThinPictureDoesNotBecomeAHugeTensor() throws {
        let file = try TestPicture(width: 20_000, height: 1) { x, _ in [x % 256, 0, 0] }.file()
        var preset = ImagePreset()
        preset.resize = .shorter
        preset.size = ImagePreset.Size(width: 2_000, height: 2_000)
        var limits = DecodeLimits()
        limits.maxPixels = 1_000_000
        #expect(Self.error(file, preset, limits: limits)?.code == .tooLarge)
        // What a crop leaves of it is small, and only that is made.
        preset.crop = ImagePreset.Size(width: 100, height: 100)
        #expect(Self.error(file, preset, limits: limits) == nil)
    }

    @Test func aPictureOfOnePixelFillsAnyPreset() throws {
        let file = try TestPicture(width: 1, height: 1) { _, _ in [51, 102, 153] }.file()
        for preset in [ImagePreset.imagenet, .clip, .yolo, .unit] {
            let result = try ImageReader().read(file: file, preset: preset)
            #expect(result.tensor.doubles().allSatisfy { $0.isFinite })
            #expect(result.placement.originalWidth == 1)
        }
    }

    @Test func readingStopsWhenAsked() throws {
        let file = try TestPicture.formula(100, 80).file()
        #expect(Self.error(file, shouldStop: { true })?.code == .stopped)
    }

    @Test func aPresetThatContradictsItselfIsRefused() throws {
        let file = try TestPicture.formula(10, 10).file()
        var preset = ImagePreset()
        preset.mean = [0, 0]
        #expect(Self.error(file, preset)?.code == .mismatch)
        preset = ImagePreset()
        preset.std = [0]
        #expect(Self.error(file, preset)?.code == .mismatch)
        preset = ImagePreset()
        preset.resize = .exact
        #expect(Self.error(file, preset)?.code == .mismatch)
        preset.size = ImagePreset.Size(width: 1 << 40, height: 1)
        #expect(Self.error(file, preset)?.code == .mismatch)
        preset = .yolo
        preset.crop = ImagePreset.Size(width: 10, height: 10)
        #expect(Self.error(file, preset)?.code == .mismatch)
        preset = ImagePreset()
        preset.fill = [1]
        #expect(Self.error(file, preset)?.code == .mismatch)
    }
}
