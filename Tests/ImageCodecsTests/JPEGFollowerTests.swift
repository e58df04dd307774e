import ImageCodecs
import JPEGVariants
import SeededNumbers
import Testing

/// Several scales from one reading of a JPEG.
struct JPEGFollowerTests {
    /// Edges and noise, so that most coefficients say something.
    private static func busy(_ x: Int, _ y: Int, _ c: Int) -> UInt8 {
        var random = SeededGenerator(seed: UInt64(x &* 7919 &+ y &* 104_729 &+ c))
        return UInt8((x / 11 + y / 5) % 2 * 120) + UInt8.random(in: 0...90, using: &random)
    }

    /// Rows of a decoding at the first scale, and of those that follow it at the others; nil where none can follow.
    private func together(_ file: [UInt8], _ scales: [Int], band: Int) throws -> [[UInt8]]? {
        try file.withUnsafeBytes { file in
            let leader = try CodecRegistry.decoder(for: file, limits: DecodeLimits())
            var sizes = [try leader.start(scaleEighths: scales[0])]
            var decoders: [any ImageDecoder] = [leader]
            for scale in scales.dropFirst() {
                guard let follower = try leader.follower() else { return nil }
                sizes.append(try follower.start(scaleEighths: scale))
                decoders.append(follower)
            }
            var rows = [[UInt8]](repeating: [], count: scales.count)
            var done = [Int](repeating: 0, count: scales.count)
            while zip(done, sizes).contains(where: { $0 < $1.height }) {
                for (i, decoder) in decoders.enumerated() where done[i] < sizes[i].height {
                    let stride = 4 * sizes[i].width
                    var part = [UInt8](repeating: 0, count: stride * band)
                    let count = min(band, sizes[i].height - done[i])
                    let read = try part.withUnsafeMutableBytes { part in
                        let base = try #require(part.baseAddress)
                        return try decoder.readRows(into: base, strideBytes: stride, count: count)
                    }
                    try #require(read > 0 || decoder.isWaiting)
                    rows[i] += part.prefix(read * stride)
                    done[i] += read
                }
            }
            return rows
        }
    }

    private static let factors: [[Int32]] = [[1, 1], [2, 1], [1, 2], [2, 2], [4, 1]]

    @Test(arguments: factors, [1, 3, 4] as [Int32])
    func aFollowersRowsAreThoseOfADecodingByItself(factors: [Int32], components: Int32) throws {
        for (isArithmetic, restartRows) in [(0, 0), (1, 0), (0, 1)] as [(Int32, Int32)] {
            var variant = jpeg_variant(components, width: 131, height: 77)
            (variant.luma_width, variant.luma_height) = components == 1 ? (1, 1) : (factors[0], factors[1])
            variant.is_arithmetic = isArithmetic
            variant.restart_rows = restartRows
            let file = jpeg(variant, Self.busy)
            for scales in [[8, 4, 2, 1], [4, 1], [2, 2]] {
                for band in [1, 16] {
                    let rows = try #require(try together(file, scales, band: band))
                    for (scale, rows) in zip(scales, rows) {
                        let alone = try decode(file, scaleEighths: scale).picture.bytes
                        let isSame = rows == alone
                        #expect(
                            isSame,
                            "\(scale) of \(scales), \(band) rows at once, \(rows.count) and \(alone.count) bytes")
                    }
                }
            }
        }
    }

    @Test func aFileThatEndsEarlyIsTheSameForFollowers() throws {
        var variant = jpeg_variant(3, width: 200, height: 150)
        (variant.luma_width, variant.luma_height) = (2, 2)
        let whole = jpeg(variant, Self.busy)
        for share in [3, 2] {
            let file = Array(whole.prefix(whole.count / share))
            let rows = try #require(try together(file, [8, 2], band: 16))
            for (scale, rows) in zip([8, 2], rows) {
                let isSame = try rows == decode(file, scaleEighths: scale).picture.bytes
                #expect(isSame, "\(scale)")
            }
        }
    }

    @Test func aFileOfSeveralScansHasNoFollowers() throws {
        var variant = jpeg_variant(3)
        variant.is_progressive = 1
        #expect(try together(jpeg(variant, Self.busy), [8, 1], band: 16) == nil)
    }

    @Test func aFollowerThatGoesLeavesTheOthers() throws {
        let file = jpeg(jpeg_variant(3, width: 160, height: 120), Self.busy)
        try file.withUnsafeBytes { bytes in
            let leader = try CodecRegistry.decoder(for: bytes, limits: DecodeLimits())
            let size = try leader.start(scaleEighths: 8)
            for _ in 0..<5 {
                let follower = try #require(try leader.follower())
                _ = try follower.start(scaleEighths: 1)
            }
            var rows = [UInt8](repeating: 0, count: 4 * size.width * size.height)
            let read = try rows.withUnsafeMutableBytes { rows in
                let base = try #require(rows.baseAddress)
                return try leader.readRows(into: base, strideBytes: 4 * size.width, count: size.height)
            }
            #expect(read == size.height)
            let isSame = try rows == decode(file).picture.bytes
            #expect(isSame)
        }
    }
}
