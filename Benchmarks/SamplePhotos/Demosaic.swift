import Dispatch

/// What lens, anti-alias filter and demosaicing leave of the finest detail and of the sensor's noise.
///
/// Brightness passes a separable (1, 2, 1) / 4: half the contrast at half the Nyquist frequency, as measured on cameras of this
/// size. Colour, which a mosaic samples half as densely, passes (1, 4, 6, 4, 1) / 16. Without this every pixel would be sharper and
/// its noise less correlated than any camera's.
enum Demosaic {
    private static let bandHeight = 64

    static func apply(_ pixels: [UInt8], width: Int, height: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: pixels.count) { bytes, count in
            count = pixels.count
            guard let start = bytes.baseAddress else { return }
            pixels.withUnsafeBufferPointer { source in
                guard let base = source.baseAddress else { return }
                // Bands are disjoint slices of one buffer, and both buffers outlive the loop.
                nonisolated(unsafe) let (first, target) = (base, start)
                DispatchQueue.concurrentPerform(iterations: (height + bandHeight - 1) / bandHeight) { band in
                    let rows = band * bandHeight..<min(height, (band + 1) * bandHeight)
                    filter(rows, of: first, width: width, height: height, into: target)
                }
            }
        }
    }

    private static func filter(
        _ rows: Range<Int>, of source: UnsafePointer<UInt8>, width: Int, height: Int,
        into target: UnsafeMutablePointer<UInt8>
    ) {
        let stride = width * 4
        // Vertical sums of one row, with two pixels at both ends that repeat the edge.
        let sums = UnsafeMutablePointer<UInt16>.allocate(capacity: 2 * (stride + 16))
        defer { sums.deallocate() }
        let (narrow, wide) = (sums + 8, sums + stride + 24)
        for y in rows {
            func row(_ step: Int) -> UnsafePointer<UInt8> { source + min(max(y + step, 0), height - 1) * stride }
            let (a, b, c, d, e) = (row(-2), row(-1), row(0), row(1), row(2))
            for i in 0..<stride {
                let near = UInt16(b[i]) &+ UInt16(d[i])
                narrow[i] = near &+ UInt16(c[i]) &* 2
                wide[i] = UInt16(a[i]) &+ near &* 4 &+ UInt16(c[i]) &* 6 &+ UInt16(e[i])
            }
            for i in 0..<8 {
                for line in [narrow, wide] {
                    line[i - 8] = line[i % 4]
                    line[stride + i] = line[stride - 4 + i % 4]
                }
            }
            let out = target + y * stride
            for x in 0..<width {
                let i = 4 * x
                // Both in 256ths of a level.
                func sharp(_ i: Int) -> Int32 {
                    (Int32(narrow[i - 4]) &+ Int32(narrow[i]) &* 2 &+ Int32(narrow[i + 4])) &* 16
                }
                func soft(_ i: Int) -> Int32 {
                    Int32(wide[i - 8]) &+ (Int32(wide[i - 4]) &+ Int32(wide[i + 4])) &* 4 &+ Int32(wide[i]) &* 6
                        &+ Int32(wide[i + 8])
                }
                let (r, g, b) = (soft(i), soft(i + 1), soft(i + 2))
                let brightness = (sharp(i) &+ sharp(i + 1) &* 2 &+ sharp(i + 2)) &- (r &+ g &* 2 &+ b)
                let detail = brightness / 4 &+ 128
                out[i] = UInt8(min(max((r &+ detail) >> 8, 0), 255))
                out[i + 1] = UInt8(min(max((g &+ detail) >> 8, 0), 255))
                out[i + 2] = UInt8(min(max((b &+ detail) >> 8, 0), 255))
                out[i + 3] = 255
            }
        }
    }
}
