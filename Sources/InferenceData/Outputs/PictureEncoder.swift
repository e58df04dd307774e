package import ImageCodecs
package import Inference

/// Pictures that a model gives, as files.
package struct PictureEncoder: Sendable {
    package var format: ImageFormat
    /// One of those that the format is written with.
    package var bitsPerChannel: Int
    /// 1 ... 100 for formats that have it.
    package var quality: Int
    package var lossless: Bool
    /// For an upright picture of its size. A gray picture with a profile is written in colour, as profiles are for colours.
    package var metadata: ImageMetadata
    /// A JPEG that goes behind the picture where that is one; the metadata announce it.
    package var gainMap: [UInt8]?
    /// Colour (8-bit R, G, B) under clear parts where the format has no alpha.
    package var matte: [UInt8] = [255, 255, 255]

    package init(
        format: ImageFormat = .png, bitsPerChannel: Int = 8, quality: Int = 85, lossless: Bool = false,
        metadata: ImageMetadata = ImageMetadata(), gainMap: [UInt8]? = nil
    ) {
        self.format = format
        self.bitsPerChannel = bitsPerChannel
        self.quality = quality
        self.lossless = lossless
        self.metadata = metadata
        self.gainMap = gainMap
    }

    /// Rows that are made and encoded at a time.
    private static let batchRows = 16

    /// The file of one picture, in sRGB.
    ///
    /// - Parameters:
    ///   - picture: `[3, height, width]` or `[1, height, width]` (gray), with or without a leading 1; 0 ... 1, clipped, and 0
    ///     for what is not a number.
    ///   - bypassed: What the model did not see of its input. Alpha becomes the picture's, and a picture of one channel is the
    ///     luma of its colours.
    ///   - pulse: Asked on the way.
    ///   - body: Gets the bytes, which are gone afterwards.
    /// - Throws: `mismatch` for other shapes or bits, `notWritable`, `stopped`, and what `body` throws.
    package func encode(
        _ picture: Tensor, bypassed: BypassedPicture? = nil, pulse: CodecPulse? = nil,
        _ body: (UnsafeRawBufferPointer) throws(DataError) -> Void
    ) throws(DataError) {
        guard !format.writtenBits.isEmpty else { throw .notWritable("\(format.name) cannot be written.") }
        guard format.writtenBits.contains(bitsPerChannel) else {
            throw .mismatch("\(bitsPerChannel) bits a channel cannot be written as \(format.rawValue).")
        }
        let samples = try PictureSamples(picture)
        bypassed?.resize(width: samples.width, height: samples.height)
        let mix = SampleMix(samples, bypassed, writesAlpha: format.writesAlpha, matte: matte)
        let isWide = bitsPerChannel > 8
        do {
            var request = EncodeRequest(
                format: format, width: samples.width, height: samples.height,
                layout: isWide ? .rgba16 : mix.keepsAlpha ? .rgba8 : .rgbx8,
                isGray: mix.isGray && metadata.icc == nil, isOpaque: !mix.keepsAlpha, quality: quality,
                lossless: lossless, metadata: metadata)
            request.gainMap = gainMap
            let encoder = try CodecRegistry.encoder(for: request)
            encoder.pulse = pulse
            let stride = samples.width * (isWide ? 8 : 4)
            let rows = UnsafeMutableRawBufferPointer.allocate(byteCount: stride * Self.batchRows, alignment: 64)
            defer { rows.deallocate() }
            guard let base = rows.baseAddress else { preconditionFailure("rows without an address") }
            var row = 0
            while row < samples.height {
                try pulse?.check()
                let count = min(Self.batchRows, samples.height - row)
                let beside = try mix.needsBypassed ? bypassed?.rows(row, count: count) : nil
                for y in 0..<count {
                    let place = UnsafeMutableRawBufferPointer(rebasing: rows[(y * stride)..<((y + 1) * stride)])
                    let bypassedRow = beside.map { $0 + 4 * samples.width * y }
                    if isWide {
                        mix.fill(place.bindMemory(to: UInt16.self), row: row + y, bypassedRow, top: 65_535)
                    } else {
                        mix.fill(place.bindMemory(to: UInt8.self), row: row + y, bypassedRow, top: 255)
                    }
                }
                try encoder.writeRows(base, strideBytes: stride, count: count)
                row += count
            }
            try encoder.finish { bytes in try body(bytes) }
        } catch let error as CodecError {
            throw DataError(error)
        } catch let error as DataError {
            throw error
        } catch {
            throw .notWritable("\(error)")
        }
    }
}

/// Puts a model's result together with what the model did not see.
private struct SampleMix {
    private let samples: PictureSamples
    /// 0 ... 1.
    private let matte: SIMD3<Float>
    private let hasAlpha: Bool
    /// The result is the luma of the bypassed colours.
    private let isLuma: Bool
    let keepsAlpha: Bool

    init(_ samples: PictureSamples, _ bypassed: BypassedPicture?, writesAlpha: Bool, matte: [UInt8]) {
        self.samples = samples
        self.matte = SIMD3(Float(matte[0]), Float(matte[1]), Float(matte[2])) / 255
        hasAlpha = bypassed?.hasAlpha ?? false
        isLuma = samples.channelCount == 1 && bypassed?.hasColors == true
        keepsAlpha = hasAlpha && writesAlpha
    }

    var needsBypassed: Bool { hasAlpha || isLuma }

    /// Every pixel has three equal samples.
    var isGray: Bool {
        samples.channelCount == 1 && !isLuma && (!hasAlpha || keepsAlpha || matte.x == matte.y && matte.y == matte.z)
    }

    /// The weights of ITU-R BT.601, by which the model's input was made.
    private static let lumaWeights = SIMD3<Float>(0.299, 0.587, 0.114)

    /// Writes R, G, B and alpha, full where there is none, for each pixel.
    ///
    /// - Parameters:
    ///   - target: A row of four samples a pixel.
    ///   - row: Its number.
    ///   - bypassed: The same row of what the model did not see, where that is needed.
    ///   - top: The code of 1.
    func fill<Sample: FixedWidthInteger & UnsignedInteger>(
        _ target: UnsafeMutableBufferPointer<Sample>, row: Int, _ bypassed: UnsafePointer<UInt16>?, top: Float
    ) {
        guard let bypassed else { return samples.fill(target, row: row, top: top) }
        let half = SIMD3<Float>(repeating: 0.5)
        for x in 0..<samples.width {
            let place = bypassed + 4 * x
            var color = samples.color(row: row, x)
            if isLuma {
                let seen = SIMD3(Float(place[0]), Float(place[1]), Float(place[2])) / 65_535
                // The same difference to each channel leaves chroma as it is, since the weights of luma sum to 1.
                color = seen + (color.x - (seen * Self.lumaWeights).sum())
                color.clamp(lowerBound: .zero, upperBound: .one)
            }
            let alpha = Float(place[3]) / 65_535
            if hasAlpha, !keepsAlpha { color = color * alpha + matte * (1 - alpha) }
            let codes = color * top + half
            for channel in 0..<3 { target[4 * x + channel] = Sample(codes[channel]) }
            target[4 * x + 3] = keepsAlpha ? Sample(alpha * top + 0.5) : .max
        }
    }
}

/// The values of a picture, channel by channel.
private struct PictureSamples {
    let width: Int
    let height: Int
    let channelCount: Int
    private let values: [Float]

    private static let largestSide = 1 << 20

    init(_ picture: Tensor) throws(DataError) {
        let shape = picture.shape.count == 4 && picture.shape[0] == 1 ? Array(picture.shape.dropFirst()) : picture.shape
        guard picture.elementType.isFloat, shape.count == 3, shape[0] == 1 || shape[0] == 3,
            shape.dropFirst().allSatisfy({ (1...Self.largestSide).contains($0) })
        else {
            throw .mismatch(
                "A picture has the shape [3, height, width] or [1, height, width], and not \(picture.shape) of "
                    + "\(picture.elementType.rawValue).")
        }
        (channelCount, height, width) = (shape[0], shape[1], shape[2])
        values =
            picture.elementType == .float32
            ? picture.elements(as: Float.self) : picture.doubles().map { Float($0) }
    }

    /// R, G and B of a pixel, 0 ... 1.
    func color(row: Int, _ x: Int) -> SIMD3<Float> {
        func value(_ channel: Int) -> Float {
            let value = values[(channel * height + row) * width + x]
            // What is not a number is not above 0.
            return value > 0 ? min(value, 1) : 0
        }
        return channelCount == 1 ? SIMD3(repeating: value(0)) : SIMD3(value(0), value(1), value(2))
    }

    /// Writes R, G, B and a full fourth sample for each pixel.
    func fill<Sample: FixedWidthInteger & UnsignedInteger>(
        _ target: UnsafeMutableBufferPointer<Sample>, row: Int, top: Float
    ) {
        for channel in 0..<3 {
            let start = ((channelCount == 1 ? 0 : channel) * height + row) * width
            for x in 0..<width {
                let value = values[start + x]
                target[4 * x + channel] = value > 0 ? Sample(min(value, 1) * top + 0.5) : 0
            }
        }
        for x in 0..<width { target[4 * x + 3] = .max }
    }
}
