import Kernels

/// A chain of operations as the lanes run it: rows of codes in, rows of codes out, as few passes between as the order allows.
package final class ChainPlan: Sendable {
    /// A change of rows in their place.
    enum Change: Sendable {
        case points(PointProgram)
        case grain(bg_grain_params)
    }

    /// What makes the rows of one level from those of the level before, and what happens to them then.
    struct Level: Sendable {
        let surroundings: Surroundings
        var changes: [Change] = []
    }

    package let width: Int
    package let height: Int
    /// Rows are `rgba16`, else `rgbx8`.
    package let isWide: Bool
    /// Folded into the reading of codes, and all there is where nothing else is left.
    let first: PointProgram
    /// Changes of the rows that were read.
    let changes: [Change]
    let levels: [Level]
    /// Folded into the writing of codes.
    let last: PointProgram

    /// - Parameters:
    ///   - operations: In their order.
    ///   - width: Pixels in a row.
    ///   - height: Rows of the whole picture.
    ///   - isWide: Rows are `rgba16`, else `rgbx8`.
    ///   - content: Stands for the content of the picture, for grain.
    ///   - orientation: What makes the picture upright, for operations that work on a grid.
    ///   - rotation: Degrees clockwise by which the picture is turned at the end.
    package init(
        _ operations: [ImageOperation], width: Int, height: Int, isWide: Bool, content: UInt32,
        orientation: Orientation = Orientation(1), rotation: Double? = nil
    ) {
        self.width = width
        self.height = height
        self.isWide = isWide
        var first: PointProgram?
        var changes: [Change] = []
        var levels: [Level] = []
        var points: [ImageOperation] = []
        func add(_ change: Change) {
            if levels.isEmpty { changes.append(change) } else { levels[levels.count - 1].changes.append(change) }
        }
        func flush() {
            defer { points = [] }
            if first == nil {
                first = PointProgram(points)
            } else if !points.isEmpty {
                add(.points(PointProgram(points)))
            }
        }
        for operation in operations {
            let surroundings = Surroundings(
                operation, width: width, height: height, isWide: isWide, orientation: orientation)
            if let surroundings {
                flush()
                levels.append(Level(surroundings: surroundings))
            } else if case .grain(let grain) = operation {
                flush()
                add(
                    .grain(
                        bg_grain_params(
                            seed: content ^ grain.seed &* 0x9E37_79B9, amount: Float(grain.amount / 4),
                            step: grain.step)))
            } else {
                points.append(operation)
            }
        }
        if let rotation {
            flush()
            levels.append(Level(surroundings: .rotate(RotationPlan(degrees: rotation, width: width, height: height))))
        }
        if first == nil { flush() }
        self.first = first ?? PointProgram()
        self.changes = changes
        self.levels = levels
        last = PointProgram(points)
    }

    /// Each pixel depends on itself alone, through one program.
    var isPointwise: Bool { levels.isEmpty && changes.isEmpty }

    /// Rows come out as they go in.
    var changesNothing: Bool { isPointwise && first.isEmpty && last.isEmpty }

    /// The first level reads codes by itself. A local contrast reads them twice, which a program would make dear.
    var readsCodes: Bool {
        guard !isWide, changes.isEmpty, let level = levels.first else { return false }
        return switch level.surroundings {
        case .denoise(let plan): plan.orientation.value == 1
        case .localContrast: first.isEmpty
        case .deconvolve, .rotate: false
        }
    }

    /// The last level writes codes by itself.
    var writesCodes: Bool {
        guard !isWide, let level = levels.last, level.changes.isEmpty else { return false }
        return switch level.surroundings {
        case .denoise(let plan): plan.orientation.value == 1
        case .localContrast: true
        case .deconvolve, .rotate: false
        }
    }

    var planes: Int { isWide ? 4 : 3 }
    /// Floats from one plane's row to the next.
    var stride: Int { (width + 15) / 16 * 16 }
    var rowFloats: Int { planes * stride }

    /// Rows that are read on each side of those made.
    package var radius: Int { levels.reduce(0) { $0 + $1.surroundings.radius } }

    /// Rows of codes that output rows `range` depend on.
    package func sourceRows(for range: Range<Int>) -> Range<Int> {
        clip(range.lowerBound - radius..<range.upperBound + radius)
    }

    /// For output rows `range`: the rows that were read, then those of each level.
    func needed(for range: Range<Int>) -> [Range<Int>] {
        var all = [range]
        for level in levels.reversed() {
            let next = all[0]
            let radius = level.surroundings.radius
            all.insert(clip(next.lowerBound - radius..<next.upperBound + radius), at: 0)
        }
        return all
    }

    private func tiles(_ across: Int, _ down: Int, of rows: Int) -> Int {
        ((width + across - 1) / across) * ((rows + down - 1) / down)
    }

    private func clip(_ range: Range<Int>) -> Range<Int> { max(0, range.lowerBound)..<min(height, range.upperBound) }

    /// Bytes that a lane holds for chunks of `rows` rows.
    ///
    /// - Parameters:
    ///   - rows: Rows of a chunk.
    ///   - tilesAtOnce: Every tile of a chunk has its own memory, and levels take turns at two buffers, as on a device.
    /// - Returns: An estimate from above.
    package func workingBytes(rows: Int, tilesAtOnce: Bool) -> Int {
        guard !isPointwise else { return 0 }
        // The first level makes the most rows.
        let made = min(height, rows + 2 * radius)
        var bytes = 0
        if tilesAtOnce {
            // With the codes that go there and come back.
            bytes += 2 * made * (4 * rowFloats + (isWide ? 8 : 4) * width)
        } else {
            for range in needed(for: 0..<min(rows, height)) {
                // Windows hold rows twice; those at both ends are not there in the first chunk.
                bytes += 2 * 4 * rowFloats * min(height, range.count + 2 * radius)
            }
        }
        for level in levels {
            switch level.surroundings {
            case .denoise(let plan):
                var size = (across: Int(BG_DENOISE_COLUMNS), down: Int(BG_DENOISE_ROWS))
                if plan.orientation.isTransposed { size = (size.down, size.across) }
                bytes += 4 * (tilesAtOnce ? tiles(size.across, size.down, of: made) : 1) * Int(BG_DENOISE_SCRATCH)
                if plan.orientation.value != 1 {
                    bytes += 2 * TurnedBand.bytes(planes: planes, width: width, rows: made, plan)
                }
            case .deconvolve(let plan):
                let tiles = tilesAtOnce ? tiles(Int(BG_DECONVOLVE_COLUMNS), Int(BG_DECONVOLVE_ROWS), of: made) : 1
                bytes += 4 * tiles * plan.scratchFloats(planes: planes)
            case .rotate: break
            case .localContrast(let plan):
                let cells = (made + 2 * plan.reachRows) / plan.cell + 2 * plan.radius + 6
                let lines = tilesAtOnce ? max(cells, made) : 1
                bytes += 4 * (2 * 7 * cells * plan.cellStride + 3 * lines * plan.lineStride(width: width))
            }
        }
        return bytes
    }
}
