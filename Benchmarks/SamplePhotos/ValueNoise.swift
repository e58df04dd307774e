import SeededNumbers

/// Value noise over several octaves, produced row by row.
///
/// Random values on a square lattice, blended smoothly between the points. Equal strength in every octave gives the
/// 1/f amplitude spectrum of natural scenes. A row depends on the seed and its number only, so bands may be made in
/// any order and on any thread.
struct ValueNoise {
    fileprivate struct Octave {
        let cellLog2: Int
        let amplitude: Float
        let salt: UInt32
        /// Blend weights over one cell: smoothstep at the pixel centres.
        let weights: [Float]
        /// Lattice rows above and below the current pixel row.
        var upper: [Float]
        var lower: [Float]
        var latticeRow: Int
    }

    private let width: Int
    private var octaves: [Octave]
    private var blended: [Float]

    /// - Parameters:
    ///   - width: Pixels a row.
    ///   - cells: Lattice spacing of the octaves as powers of two, e.g. `1...4` for 2, 4, 8 and 16 pixels.
    ///   - seed: Decides every value.
    ///   - amplitude: Peak value of the octave with the given exponent.
    init(width: Int, cells: ClosedRange<Int>, seed: UInt64, amplitude: (Int) -> Float) {
        var random = SeededGenerator(seed: seed)
        self.width = width
        self.octaves = cells.map { cellLog2 in
            let cell = 1 << cellLog2
            let points = (width >> cellLog2) + 3
            return Octave(
                cellLog2: cellLog2, amplitude: amplitude(cellLog2),
                salt: UInt32(truncatingIfNeeded: random.next()),
                weights: (0..<cell).map { smoothstep((Float($0) + 0.5) / Float(cell)) },
                upper: [Float](repeating: 0, count: points), lower: [Float](repeating: 0, count: points),
                latticeRow: .min)
        }
        self.blended = [Float](repeating: 0, count: (width >> cells.lowerBound) + 3)
    }

    /// Writes row `y` into `row`, which holds at least the width rounded up to a multiple of the largest cell.
    mutating func fill(_ row: UnsafeMutablePointer<Float>, y: Int) {
        for x in 0..<width { row[x] = 0 }
        for index in octaves.indices { add(index, to: row, y: y) }
    }

    private mutating func add(_ index: Int, to row: UnsafeMutablePointer<Float>, y: Int) {
        octaves[index].move(to: y >> octaves[index].cellLog2)
        let octave = octaves[index]
        let cell = 1 << octave.cellLog2
        let down = octave.weights[y & (cell - 1)]
        let points = octave.upper.count
        blended.withUnsafeMutableBufferPointer { blended in
            octave.upper.withUnsafeBufferPointer { upper in
                octave.lower.withUnsafeBufferPointer { lower in
                    for i in 0..<points { blended[i] = upper[i] + down * (lower[i] - upper[i]) }
                }
            }
            guard let lattice = blended.baseAddress else { return }
            octave.weights.withUnsafeBufferPointer { weights in
                switch octave.cellLog2 {
                case 1: Self.spread2(lattice, weights, row, width)
                case 2: Self.spread4(lattice, weights, row, width)
                default: Self.spread(lattice, weights, row, width, cell)
                }
            }
        }
    }

    private static func spread2(
        _ lattice: UnsafePointer<Float>, _ weights: UnsafeBufferPointer<Float>, _ row: UnsafeMutablePointer<Float>,
        _ width: Int
    ) {
        let (a, b) = (weights[0], weights[1])
        for i in 0..<(width / 2) {
            let step = lattice[i + 1] - lattice[i]
            row[2 * i] += lattice[i] + a * step
            row[2 * i + 1] += lattice[i] + b * step
        }
        if width % 2 == 1 { row[width - 1] += lattice[width / 2] }
    }

    private static func spread4(
        _ lattice: UnsafePointer<Float>, _ weights: UnsafeBufferPointer<Float>, _ row: UnsafeMutablePointer<Float>,
        _ width: Int
    ) {
        let blend = SIMD4(weights[0], weights[1], weights[2], weights[3])
        let raw = UnsafeMutableRawPointer(row)
        for i in 0..<(width / 4) {
            let offset = i * 16
            let sum = raw.loadUnaligned(fromByteOffset: offset, as: SIMD4<Float>.self)
            let value = lattice[i] + blend * (lattice[i + 1] - lattice[i])
            raw.storeBytes(of: sum + value, toByteOffset: offset, as: SIMD4<Float>.self)
        }
        for x in (width / 4 * 4)..<width { row[x] += lattice[x / 4] }
    }

    private static func spread(
        _ lattice: UnsafePointer<Float>, _ weights: UnsafeBufferPointer<Float>, _ row: UnsafeMutablePointer<Float>,
        _ width: Int, _ cell: Int
    ) {
        var start = 0
        var i = 0
        while start < width {
            let (value, step) = (lattice[i], lattice[i + 1] - lattice[i])
            let count = min(cell, width - start)
            for x in 0..<count { row[start + x] += value + weights[x] * step }
            start += cell
            i += 1
        }
    }
}

extension ValueNoise.Octave {
    fileprivate mutating func move(to row: Int) {
        guard row != latticeRow else { return }
        if row == latticeRow &+ 1 {
            swap(&upper, &lower)
        } else {
            Self.fill(&upper, row: row, salt: salt, amplitude: amplitude)
        }
        Self.fill(&lower, row: row + 1, salt: salt, amplitude: amplitude)
        latticeRow = row
    }

    private static func fill(_ points: inout [Float], row: Int, salt: UInt32, amplitude: Float) {
        let base = hash32(salt ^ UInt32(truncatingIfNeeded: row) &* 0x9E37_79B9)
        let scale = amplitude / 8_388_608
        points.withUnsafeMutableBufferPointer { points in
            for i in 0..<points.count {
                let bits = hash32(base &+ UInt32(truncatingIfNeeded: i) &* 0x85EB_CA6B) >> 8
                points[i] = Float(Int32(bitPattern: bits) &- 8_388_608) * scale
            }
        }
    }
}

@inline(__always)
func smoothstep(_ t: Float) -> Float { t * t * (3 - 2 * t) }
