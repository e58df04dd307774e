import Kernels
package import OpenCLKit

extension KernelTuning {
    /// What is worth measuring on a device: its defaults with one tile for products of every shape.
    package static func candidates(for device: DeviceInfo) -> [KernelTuning] {
        let standard = standard(for: device)
        let tiles =
            standard.width == 1
            ? groupTiles(threads: standard.threads).map { (width: 1, tile: $0) }
            : (standard.width == 16 ? [16, 8] : [8, 16]).flatMap { width in
                vectorTiles(width: width).map { (width: width, tile: $0) }
            }
        return tiles.map { width, tile in
            var candidate = standard
            candidate.width = width
            candidate.tiles = Dictionary(uniqueKeysWithValues: ShapeClass.allCases.map { ($0, tile) })
            return candidate
        }.filter { $0.isSound && $0.localBytes <= device.localMemoryBytes }
    }

    /// Local memory that a group of the largest kernel takes, of convolution.cl or attention.cl.
    package var localBytes: Int {
        let floats = tiles.values.map { tile in
            guard width > 1 else {
                return max(tile.depth * (tile.rows + tile.columns), 2 * 32 * largestHead)
            }
            let convolution = tile.columns * (tile.depth + Int(BG_ITEM_TILES) * tile.rows + 4)
            return max(convolution, tile.rows * (largestHead + 2 * tile.columns))
        }
        return 4 * (floats.max() ?? 0)
    }

    /// Accumulators that fill 32 registers (512 bits, width 16) or 16 (256 bits, width 8), with one row of operands.
    private static func vectorTiles(width: Int) -> [Tile] {
        let blocks = width == 16 ? [(6, 4), (8, 3), (12, 2), (14, 2), (6, 2)] : [(4, 3), (6, 2), (12, 2)]
        return blocks.flatMap { rows, vectors in
            [256, 512].map { Tile(rows: rows, columns: vectors * width, depth: $0) }
        }
    }

    /// Tiles of 4 to 8 elements in each direction for every work-item.
    private static func groupTiles(threads: Int) -> [Tile] {
        [(32, 32), (32, 64), (64, 32), (64, 64), (128, 64), (64, 128), (128, 128)].flatMap { rows, columns in
            [8, 16, 32].map { Tile(rows: rows, columns: columns, depth: $0) }
        }
    }
}
