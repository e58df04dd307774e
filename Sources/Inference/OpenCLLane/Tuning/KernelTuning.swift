import Kernels
package import OpenCLKit

/// Sizes that the kernels of inference are compiled with on one device.
package struct KernelTuning: Codable, Hashable, Sendable {
    /// How a work-group computes its part of a product.
    package struct Tile: Codable, Hashable, Sendable {
        /// Rows of the result.
        package var rows: Int
        /// Columns of the result; in the CPU form a multiple of the vector's width.
        package var columns: Int
        /// Steps along the depth that are held at a time: in local memory in the GPU form, in the second-level cache in the
        /// CPU form.
        package var depth: Int

        package init(rows: Int, columns: Int, depth: Int) {
            self.rows = rows
            self.columns = columns
            self.depth = depth
        }
    }

    /// Products by the number of their columns, which for convolutions are the pixels of one image.
    package enum ShapeClass: String, Codable, CaseIterable, Sendable, CodingKeyRepresentable {
        case few, some, many

        package init(columns: Int) { self = columns < 128 ? .few : columns < 1_024 ? .some : .many }
    }

    /// Elements of a vector; 1 is the GPU form.
    package var width: Int
    /// Work-items of a group that shares a tile or a row; 1 in the CPU form.
    package var threads: Int
    package var tiles: [ShapeClass: Tile]
    /// Fewest channels and filters with which convolutions of 3 × 3 go through fewer products, see winograd.cl.
    package var winogradChannels: Int
    /// Launches that are handed to the device at a time, and behind which a run can be stopped.
    package var launchesAtOnce: Int
    /// Multiply-adds after which a group of launches ends early.
    package var multiplyAddsAtOnce: Int

    package func tile(columns: Int) -> Tile {
        tiles[ShapeClass(columns: columns)] ?? Tile(rows: max(width == 1 ? 64 : 6, 1), columns: 64, depth: 16)
    }

    /// Largest depth and number of columns of attention, HEAD of attention.cl.
    var largestHead: Int { width == 1 ? 64 : 256 }

    /// What the compiler is told.
    func options(_ tile: Tile) -> String {
        let form = "-cl-std=CL1.2 -DWIDTH=\(width) -DTM=\(tile.rows)"
        return width == 1
            ? "\(form) -DTN=\(tile.columns) -DTK=\(tile.depth) -DTHREADS=\(threads)"
            : "\(form) -DNV=\(tile.columns / width) -DKB=\(tile.depth)"
    }

    // MARK: Defaults

    /// Where nothing was measured. CPU devices: blocks that fill 32 registers of 512 bits, or 16 of 256 bits where these are
    /// too many. GPUs: four work-items by four elements in each direction, more on NVIDIA's, whose registers are many.
    package static func standard(for device: DeviceInfo) -> KernelTuning {
        guard device.type == .cpu else { return groups(for: device) }
        return bg_best_isa() == BG_ISA_AVX512 ? vectors : shortVectors
    }

    /// For CPU devices. A work-group is one work-item. Fewer products gain nothing there: the transforms move as much.
    package static let vectors = KernelTuning(
        width: 16, threads: 1,
        tiles: [
            .few: Tile(rows: 8, columns: 48, depth: 512), .some: Tile(rows: 8, columns: 48, depth: 512),
            .many: Tile(rows: 6, columns: 64, depth: 512),
        ], winogradChannels: .max, launchesAtOnce: 16, multiplyAddsAtOnce: 500_000_000)

    /// The same where registers have 256 bits or less, of which 16 hold a tile.
    package static let shortVectors = KernelTuning(
        width: 8, threads: 1,
        tiles: Dictionary(
            uniqueKeysWithValues: ShapeClass.allCases.map { ($0, Tile(rows: 6, columns: 16, depth: 512)) }),
        winogradChannels: .max, launchesAtOnce: 16, multiplyAddsAtOnce: 500_000_000)

    /// For GPUs.
    package static func groups(for device: DeviceInfo) -> KernelTuning {
        let threads = device.maxWorkGroupSize >= 256 ? 256 : device.maxWorkGroupSize >= 128 ? 128 : 64
        let isLarge = device.vendor.contains("NVIDIA") && threads == 256
        return KernelTuning(
            width: 1, threads: threads,
            tiles: [
                .few: Tile(rows: 32, columns: 64, depth: 16), .some: Tile(rows: 64, columns: 64, depth: 16),
                .many: isLarge ? Tile(rows: 128, columns: 128, depth: 16) : Tile(rows: 64, columns: 64, depth: 16),
            ], winogradChannels: 64, launchesAtOnce: 24, multiplyAddsAtOnce: 20_000_000_000)
    }

    /// Whether the kernels can be compiled so.
    package var isSound: Bool {
        guard [1, 4, 8, 16].contains(width), threads > 0, launchesAtOnce > 0, multiplyAddsAtOnce > 0 else {
            return false
        }
        return tiles.values.allSatisfy { tile in
            guard tile.rows > 0, tile.columns > 0, tile.depth > 0, tile.rows * tile.columns <= 1 << 16 else {
                return false
            }
            if width > 1 { return threads == 1 && tile.columns % width == 0 }
            // Every work-item has rows and columns of its own, and gathers one column of the other operand.
            return threads % 16 == 0 && tile.rows % (threads / 16) == 0 && tile.columns % 16 == 0
                && threads % tile.columns == 0
        }
    }
}
