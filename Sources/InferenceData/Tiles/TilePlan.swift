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
    package let tiles: [Tile]

    /// - Parameters:
    ///   - width: Of the picture.
    ///   - height: Of the picture.
    ///   - tile: Side of a tile, margins included; pictures that are smaller are one tile of their own size.
    ///   - margin: How far a model looks to each side, in pixels of the picture: half of its receptive field.
    ///   - multiple: Sides of tiles begin at multiples of this, for models that shrink on their way.
    /// - Throws: `mismatch` where a tile is not larger than its margins.
    package init(width: Int, height: Int, tile: Int, margin: Int, multiple: Int = 1) throws(DataError) {
        throw .unsupported(["tiles"])
    }
}
