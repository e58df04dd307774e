import ChunkedCompute
import Glibc
import ImageExport
import Testing

/// What is decided about sizes before any pixel is looked at.
@Suite struct OutputSizeTests {
    /// Pixels of a 6 × 4 picture, numbered, of which `fill` keeps 4 × 4.
    @Test(arguments: 1...8)
    func aCornerIsKeptInWhateverWayAPictureIsStored(orientation: Int) throws {
        let (width, height) = (6, 4)
        var stored = (0..<UInt32(width * height)).map { $0 }
        let isTransposed = orientation >= 5
        let (uprightWidth, uprightHeight) = isTransposed ? (height, width) : (width, height)
        var upright = [UInt32](repeating: 0, count: stored.count)
        stored.withUnsafeMutableBytes { from in
            upright.withUnsafeMutableBytes { to in
                guard let from = from.baseAddress, let to = to.baseAddress else { return }
                Orientation(orientation).upright(
                    from: RowBand(base: from, strideBytes: 4 * width, firstRow: 0, rowCount: height), width: width,
                    pixelBytes: 4,
                    into: RowBand(base: to, strideBytes: 4 * uprightWidth, firstRow: 0, rowCount: uprightHeight))
            }
        }
        for (name, firstX, firstY) in [
            ("top-left", 0, 0), ("bottom-right", uprightWidth - 4, uprightHeight - 4),
            ("center", (uprightWidth - 4) / 2, (uprightHeight - 4) / 2),
        ] {
            let geometry = try OutputGeometry(
                width: width, height: height, orientation: Orientation(orientation), size: .fill(width: 2, height: 2),
                enlarge: false, gravity: Placement.names[name] ?? .center)
            let shown = (0..<16).map { upright[(firstY + $0 / 4) * uprightWidth + firstX + $0 % 4] }
            let cropped = (0..<16).map {
                stored[(Int(geometry.cropY) + $0 / 4) * width + Int(geometry.cropX) + $0 % 4]
            }
            #expect(Set(cropped) == Set(shown), "\(name)")
        }
    }

    @Test(arguments: [(101, 100, 100, 100), (200, 101, 200, 100), (7, 4, 4, 4), (640, 480, 333, 480)])
    func whatIsCutWithoutBeingScaledKeepsItsPixels(width: Int, height: Int, boxWidth: Int, boxHeight: Int) throws {
        for name in ["top-left", "center", "bottom-right"] {
            let geometry = try OutputGeometry(
                width: width, height: height, orientation: Orientation(1),
                size: .fill(width: boxWidth, height: boxHeight), enlarge: false,
                gravity: Placement.names[name] ?? .center)
            #expect(geometry.cropX == geometry.cropX.rounded() && geometry.cropY == geometry.cropY.rounded())
            #expect((geometry.cropWidth, geometry.cropHeight) == (Double(boxWidth), Double(boxHeight)))
            #expect((geometry.width, geometry.height) == (boxWidth, boxHeight))
        }
    }

    @Test func megapixelsAreNeverPassed() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let (width, height) = (
                Int.random(in: 1...9000, using: &generator), Int.random(in: 1...9000, using: &generator)
            )
            let millions = Double.random(in: 0.001...40, using: &generator)
            let geometry = try OutputGeometry(
                width: width, height: height, orientation: Orientation(1), size: .megapixels(millions), enlarge: true)
            let pixels = Double(geometry.width * geometry.height)
            #expect(pixels <= millions * 1e6, "\(width) × \(height) to \(millions)")
        }
        for (width, height) in [(2294, 1), (1, 1446), (90_000, 3), (1, 1)] {
            for enlarge in [false, true] {
                let geometry = try OutputGeometry(
                    width: width, height: height, orientation: Orientation(1), size: .megapixels(0.0001),
                    enlarge: enlarge)
                #expect(geometry.width * geometry.height <= 100, "\(geometry.width) × \(geometry.height)")
            }
        }
    }

    /// Curves of sizes that grow with the quality, steeply or hardly.
    @Test(arguments: 0..<400)
    func theHighestQualityThatFitsIsFoundInFewAttempts(seed: Int) {
        let ceiling = 1 + seed * 7 % 100
        let steepness = 0.005 + Double(seed % 13) / 100
        let sizes = (0...ceiling).map { 1000 + Int(900 * pow(2.718, steepness * Double($0))) + $0 * (seed % 5) * 50 }
        let limit = 1500 + seed * 97 % sizes[ceiling]
        guard sizes[ceiling] > limit else { return }
        var search = QualitySearch(ceiling: ceiling, bytes: sizes[ceiling], maxBytes: limit)
        var attempts = 1
        while let quality = search.next {
            attempts += 1
            search.tried(quality, bytes: sizes[quality])
        }
        #expect(search.found == (1...ceiling).last { sizes[$0] <= limit })
        #expect(attempts <= 12)
    }
}
