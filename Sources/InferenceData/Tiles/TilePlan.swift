/// A picture cut into overlapping tiles of one size, and which part of each tile's result is kept.
package struct TilePlan: Hashable, Sendable {
    package struct Tile: Hashable, Sendable {
        /// The part that the model sees, in pixels of the picture.
        package var x: Int
        package var y: Int
        package var width: Int
        package var height: Int
        /// The part of it that is kept, in pixels of the picture; those of all tiles cover it once.
        package var keptX: Int
        package var keptY: Int
        package var keptWidth: Int
        package var keptHeight: Int
    }

    package let width: Int
    package let height: Int
    /// Row by row.
    package let tiles: [Tile]

    /// - Parameters:
    ///   - width: Of the picture.
    ///   - height: Of the picture.
    ///   - tile: Side of a tile, margins included; along a side of the picture that is shorter, tiles are as long as it.
    ///   - margin: How far a model looks to each side, in pixels of the picture: half of its receptive field.
    ///   - multiple: Tiles begin at multiples of this, for models that shrink on their way; the side of a tile has to be a
    ///     multiple of it too. Where the picture's side is none, the last tile is shorter instead of reaching further back.
    /// - Throws: `mismatch` where a tile is not larger than its margins, or the numbers do not go together.
    package init(width: Int, height: Int, tile: Int, margin: Int, multiple: Int = 1) throws(DataError) {
        guard width > 0, height > 0, margin >= 0, multiple > 0, tile > 0, tile % multiple == 0 else {
            throw .mismatch(
                "Tiles of \(tile) pixels with margins of \(margin), at multiples of \(multiple), are not possible.")
        }
        let columns = try Self.spans(width, tile: tile, margin: margin, multiple: multiple)
        let rows = try Self.spans(height, tile: tile, margin: margin, multiple: multiple)
        self.width = width
        self.height = height
        tiles = rows.flatMap { row in
            columns.map { column in
                Tile(
                    x: column.seen.lowerBound, y: row.seen.lowerBound, width: column.seen.count,
                    height: row.seen.count, keptX: column.kept.lowerBound, keptY: row.kept.lowerBound,
                    keptWidth: column.kept.count, keptHeight: row.kept.count)
            }
        }
    }

    /// Along one side: what is seen and what of it is kept.
    private static func spans(
        _ length: Int, tile: Int, margin: Int, multiple: Int
    ) throws(DataError) -> [(seen: Range<Int>, kept: Range<Int>)] {
        if length <= tile { return [(0..<length, 0..<length)] }
        // Each tile but the first begins a margin before what it is kept from on, rounded down.
        let step = (tile - 2 * margin) / multiple * multiple
        guard step > 0 else {
            throw .mismatch("Tiles of \(tile) pixels leave nothing between margins of \(margin).")
        }
        var spans: [(seen: Range<Int>, kept: Range<Int>)] = []
        var start = 0
        var kept = 0
        while true {
            if start + tile >= length {
                // The last tile reaches back, so that all have one size.
                let shifted = length % multiple == 0 ? length - tile : start
                spans.append((shifted..<length, kept..<length))
                return spans
            }
            let end = start + tile - margin
            spans.append((start..<(start + tile), kept..<end))
            kept = end
            start += step
        }
    }
}
