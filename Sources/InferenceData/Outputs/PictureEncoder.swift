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
    ///   - body: Gets the bytes, which are gone afterwards.
    /// - Throws: `mismatch` for other shapes or bits, `notWritable`, and what `body` throws.
    package func encode(
        _ picture: Tensor, _ body: (UnsafeRawBufferPointer) throws(DataError) -> Void
    ) throws(DataError) {
        guard !format.writtenBits.isEmpty else { throw .notWritable("\(format.name) cannot be written.") }
        guard format.writtenBits.contains(bitsPerChannel) else {
            throw .mismatch("\(bitsPerChannel) bits a channel cannot be written as \(format.rawValue).")
        }
        let samples = try PictureSamples(picture)
        let isWide = bitsPerChannel > 8
        do {
            var request = EncodeRequest(
                format: format, width: samples.width, height: samples.height, layout: isWide ? .rgba16 : .rgbx8,
                isGray: samples.channelCount == 1 && metadata.icc == nil, isOpaque: true, quality: quality,
                lossless: lossless, metadata: metadata)
            request.gainMap = gainMap
            let encoder = try CodecRegistry.encoder(for: request)
            let stride = samples.width * (isWide ? 8 : 4)
            let rows = UnsafeMutableRawBufferPointer.allocate(byteCount: stride * Self.batchRows, alignment: 64)
            defer { rows.deallocate() }
            guard let base = rows.baseAddress else { preconditionFailure("rows without an address") }
            var row = 0
            while row < samples.height {
                let count = min(Self.batchRows, samples.height - row)
                for y in 0..<count {
                    let place = UnsafeMutableRawBufferPointer(rebasing: rows[(y * stride)..<((y + 1) * stride)])
                    if isWide {
                        samples.fill(place.bindMemory(to: UInt16.self), row: row + y, top: 65_535)
                    } else {
                        samples.fill(place.bindMemory(to: UInt8.self), row: row + y, top: 255)
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

    /// Writes R, G, B and a full fourth sample for each pixel.
    func fill<Sample: FixedWidthInteger & UnsignedInteger>(
        _ target: UnsafeMutableBufferPointer<Sample>, row: Int, top: Float
    ) {
        for channel in 0..<3 {
            let start = ((channelCount == 1 ? 0 : channel) * height + row) * width
            for x in 0..<width {
                let value = values[start + x]
                // What is not a number is not above 0.
                target[4 * x + channel] = value > 0 ? Sample(min(value, 1) * top + 0.5) : 0
            }
        }
        for x in 0..<width { target[4 * x + 3] = .max }
    }
}
