import COneDNN

/// Weights of Winograd convolutions as oneDNN 2.6 wants them, made several times faster than by its own reorder, which
/// goes number by number.
///
/// Filters of 3 × 3 taps g become tiles of 4 × 4 or 6 × 6 elements, G g Gᵀ, for results of 2 × 2 or 4 × 4 (Lavin and Gray,
/// 2016).
package struct WinogradWeights {
    /// The same tap, or element, of filters that lie beside each other.
    private typealias Filters = SIMD16<Float>

    private let transform: Transform
    private let filters: Int
    private let channels: Int
    /// Vectors of filters, and channels, that lie together.
    private let group: (filters: Int, channels: Int)
    private let strides: Strides

    /// Numbers from one to the next.
    private struct Strides {
        /// Of vectors of filters within a group, and of these groups.
        var (filters, filterGroup): (Int, Int)
        /// Of channels within a group, and of these groups.
        var (channel, channelGroup): (Int, Int)
        /// Of a tile's elements.
        var element: Int
    }

    /// Nil where `target` is not of Winograd's form, or in an order that is not known here.
    ///
    /// - Parameters:
    ///   - source: O × C × 3 × 3.
    ///   - target: As a primitive wants them.
    package init?(_ source: MemoryDescriptor, to target: MemoryDescriptor) {
        guard target.raw.format_kind == dnnl_format_kind_wino, source.type == .float32, target.type == .float32,
            source.rank == 4, source.dimensions[2...] == [3, 3], source.strides != nil
        else { return nil }
        let form = target.raw.format_desc.wino_desc
        let width = Filters.scalarCount
        (filters, channels) = (Int(form.oc), Int(form.ic))
        let isSingle = form.wino_format == dnnl_wino_wei_aaOio
        group = (isSingle ? 1 : Int(form.oc2_block), Int(form.ic2_block) * width)
        // Where filters or channels are filled up with zeros, the reorder does that.
        guard form.r == 3, source.dimensions[..<2] == [filters, channels], form.oc_block == width,
            form.ic_block == width, group.filters > 0, group.channels > 0,
            filters.isMultiple(of: group.filters * width), channels.isMultiple(of: group.channels)
        else { return nil }
        let row = group.filters * width
        switch (form.wino_format, form.alpha) {
        case (dnnl_wino_wei_OBaaIBOIio, 6):
            transform = .ofSix
            strides = Strides(
                filters: group.channels * width, filterGroup: 36 * row * channels, channel: width,
                channelGroup: row * group.channels, element: row * channels)
        case (dnnl_wino_wei_aaOBiOo, 4), (dnnl_wino_wei_aaOio, 4):
            transform = .ofFour
            strides = Strides(
                filters: width, filterGroup: row * channels, channel: row, channelGroup: row * group.channels,
                element: filters * channels)
        default: return nil
        }
    }

    /// - Parameters:
    ///   - weights: The bytes.
    ///   - source: How they lie.
    ///   - result: As large as the target.
    package func lay(_ weights: UnsafeRawBufferPointer, _ source: MemoryDescriptor, into result: AlignedBuffer) {
        guard let from = source.strides, let start = weights.baseAddress, let target = result.bytes.baseAddress else {
            return
        }
        let taps = start.assumingMemoryBound(to: Float.self)
        let width = Filters.scalarCount
        withUnsafeTemporaryAllocation(of: Filters.self, capacity: Self.together * transform.size * transform.size) {
            tiles in
            for vector in 0..<(filters / width) {
                let (filterGroup, filter) = vector.quotientAndRemainder(dividingBy: group.filters)
                for first in stride(from: 0, to: channels, by: Self.together) {
                    let (channelGroup, inner) = first.quotientAndRemainder(dividingBy: group.channels)
                    for channel in 0..<Self.together {
                        let place = vector * width * from[0] + (first + channel) * from[1]
                        lay(taps + place, from) { tiles[$0 * Self.together + channel] = $1 }
                    }
                    let place =
                        filterGroup * strides.filterGroup + filter * strides.filters
                        + channelGroup * strides.channelGroup + inner * strides.channel
                    for element in 0..<(transform.size * transform.size) {
                        for channel in 0..<Self.together {
                            let number = place + element * strides.element + channel * strides.channel
                            (target + 4 * number).storeBytes(
                                of: tiles[element * Self.together + channel], as: Filters.self)
                        }
                    }
                }
            }
        }
    }

    /// Channels that are written together, so that runs in memory are long.
    private static var together: Int { 8 }

    /// One channel of a vector of filters.
    @inline(__always)
    private func lay(_ taps: UnsafePointer<Float>, _ from: [Int], _ put: (_ element: Int, Filters) -> Void) {
        withUnsafeTemporaryAllocation(of: Filters.self, capacity: 3 * Transform.largest) { columns in
            for x in 0..<3 {
                let column = taps + x * from[3]
                transform.apply(
                    to: Self.filters(column, from[0]), Self.filters(column + from[2], from[0]),
                    Self.filters(column + 2 * from[2], from[0])
                ) { columns[3 * $0 + x] = $1 }
            }
            for row in 0..<transform.size {
                transform.apply(to: columns[3 * row], columns[3 * row + 1], columns[3 * row + 2]) {
                    put(row * transform.size + $0, $1)
                }
            }
        }
    }

    @inline(__always)
    private static func filters(_ tap: UnsafePointer<Float>, _ stride: Int) -> Filters {
        var result = Filters()
        for filter in 0..<Filters.scalarCount { result[filter] = tap[filter * stride] }
        return result
    }
}

/// G: a row for each of a polynomial's points p, `(1, p, p²)` divided by the product of the distances to the others. The
/// first point is 0 and the last infinity; those between come in pairs of p and -p.
private struct Transform {
    /// Rows.
    let size: Int
    private let first: Float
    private let pairs: [Row]

    private typealias Row = (one: Float, point: Float, square: Float)

    static let largest = 6
    static let ofFour = Transform(points: [1])
    static let ofSix = Transform(points: [5.0 / 8, 3.0 / 2])

    private init(points: [Double]) {
        size = 2 * points.count + 2
        // With one pair the product is negative; oneDNN has that sign in the matrix for the results.
        first = Float(1 / points.reduce(1) { $0 * $1 * $1 })
        pairs = points.map { point in
            let others = points.filter { $0 != point }.reduce(1) { $0 * (point * point - $1 * $1) }
            let scale = 1 / (2 * point * point * others)
            return (Float(scale), Float(scale * point), Float(scale * point * point))
        }
    }

    @inline(__always)
    func apply<Vector: SIMD>(
        to a: Vector, _ b: Vector, _ c: Vector, _ put: (_ row: Int, Vector) -> Void
    ) where Vector.Scalar == Float {
        put(0, first * a)
        for (place, row) in pairs.enumerated() {
            let (even, odd) = (row.one * a + row.square * c, row.point * b)
            put(2 * place + 1, even + odd)
            put(2 * place + 2, even - odd)
        }
        put(size - 1, c)
    }
}
