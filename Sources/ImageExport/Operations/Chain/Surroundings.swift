import Glibc
import Kernels

/// An operation whose pixels depend on those around them, with what its kernels need to know.
package enum Surroundings: Sendable {
    case denoise(DenoisePlan)
    case localContrast(LocalContrastPlan)
    case deconvolve(DeconvolvePlan)
    case rotate(RotationPlan)

    /// Rows that are read on each side of those made.
    package var radius: Int {
        switch self {
        case .denoise(let plan): plan.reachRows
        case .localContrast(let plan): plan.reachRows
        case .deconvolve(let plan): plan.halo
        case .rotate(let plan): plan.reach
        }
    }

    /// nil for what does not look around.
    ///
    /// - Parameters:
    ///   - operation: What to do.
    ///   - width: Pixels in a row.
    ///   - height: Rows of the whole picture.
    ///   - isWide: Rows are `rgba16`, else `rgbx8`.
    ///   - orientation: What makes the picture upright: grids begin at the upright picture's first corner.
    init?(_ operation: ImageOperation, width: Int, height: Int, isWide: Bool, orientation: Orientation) {
        switch operation {
        case .denoise(let wanted):
            self = .denoise(DenoisePlan(wanted, isWide: isWide, orientation: orientation))
        case .localContrast(let wanted):
            self = .localContrast(
                LocalContrastPlan(wanted, width: width, height: height, orientation: orientation))
        case .deconvolve(let wanted): self = .deconvolve(DeconvolvePlan(wanted))
        default: return nil
        }
    }
}

package struct DenoisePlan: Sendable {
    /// `[2][8][8]`, as `Kernels/Image/denoise.cl` has them.
    package let limits: [Float]
    /// Pictures with alpha are read as far as clear pixels are filled from.
    let reachRows: Int
    /// The grid of blocks begins at the corner that this makes the first; it has two columns and four rows from one block to the
    /// next in the upright picture.
    let orientation: Orientation

    /// How many deviations of the noise a coefficient has to exceed. Measured on camera-like pictures with noise of 5 to 20 levels
    /// of 255: the mean error is least between 3.0 and 3.3.
    package static let threshold = 3.2

    package init(_ wanted: Denoising, isWide: Bool, orientation: Orientation = Orientation(1)) {
        self.orientation = orientation
        // One row more lets a band begin at a column of the grid where rows are the upright picture's columns.
        reachRows =
            Int(BG_DENOISE_RADIUS) + (isWide ? Int(BG_DENOISE_FILL) : 0) + (orientation.isTransposed ? 1 : 0)
        let scales = (0..<8).map { $0 == 0 ? 8 : 16 * pow(cos(Double($0) * .pi / 16), 2) }
        limits = [wanted.luma, wanted.chroma].flatMap { strength -> [Float] in
            let limit = strength * Denoising.strongest * Self.threshold
            return (0..<64).map { i in
                i == 0 ? -1 : Float(limit * limit * scales[i / 8] * scales[i % 8])
            }
        }
    }
}

package struct LocalContrastPlan: Sendable {
    /// Pixels of a cell's edge.
    package let cell: Int
    /// Cells on each side of the one in the middle of a mean.
    package let radius: Int
    package let across: Int
    package let down: Int
    /// Columns and rows of the first cells that lie outside of the picture.
    package let left: Int
    package let top: Int
    package let amount: Double

    /// Squared deviation of luma that half belongs to the base; a seventh of the range is an edge.
    package static let epsilon = 0.02

    package var reachRows: Int { (2 * radius + 2) * cell }
    /// Floats from one row of cells to the next.
    var cellStride: Int { (across + 15) / 16 * 16 }
    func lineStride(width: Int) -> Int { max(width + 2 * cell, across + 2 * radius) + 48 }

    package init(
        _ wanted: LocalContrast, width: Int, height: Int, orientation: Orientation = Orientation(1)
    ) {
        let pixels = max(2, wanted.reach / 100 * Double(max(width, height)))
        // About six cells and more to the radius.
        var cell = 2
        while Double(cell) * 12 <= pixels { cell *= 2 }
        self.cell = cell
        radius = max(1, Int((pixels / Double(cell)).rounded()))
        across = (width + cell - 1) / cell
        down = (height + cell - 1) / cell
        left = orientation.runsFromRight ? across * cell - width : 0
        top = orientation.runsFromBelow ? down * cell - height : 0
        amount = wanted.amount
    }

    /// Rows of cells whose means rows of pixels read.
    func means(for rows: Range<Int>) -> Range<Int> {
        func above(_ y: Int) -> Int {
            let place = y + top
            return 2 * place + 1 < cell ? -1 : (2 * place + 1 - cell) / (2 * cell)
        }
        return max(0, above(rows.lowerBound))..<min(down, above(rows.upperBound - 1) + 2)
    }

    /// Rows of cells that means over `rows` read.
    func around(_ rows: Range<Int>) -> Range<Int> {
        max(0, rows.lowerBound - radius)..<min(down, rows.upperBound + radius)
    }
}

package struct DeconvolvePlan: Sendable {
    package let radius: Int
    package let rounds: Int
    package let amount: Double
    /// Of the middle and of each distance, for the kernels with zeros up to the largest radius.
    package let weights: [Float]

    package var halo: Int { max(2, 2 * radius * rounds) }
    var pitch: Int { (Int(BG_DECONVOLVE_COLUMNS) + 2 * halo + 47) / 16 * 16 }
    /// Pictures with alpha take one plane of a tile more.
    func scratchFloats(planes: Int) -> Int { (planes * (Int(BG_DECONVOLVE_ROWS) + 2 * halo) + 3) * pitch }

    package init(_ wanted: Deconvolution) {
        radius = min(Int(BG_DECONVOLVE_RADIUS), max(1, Int((2.5 * wanted.sigma).rounded(.up))))
        rounds = wanted.rounds
        amount = wanted.amount
        let bell = (0...radius).map { exp(-Double($0 * $0) / (2 * wanted.sigma * wanted.sigma)) }
        let sum = 2 * bell.reduce(0, +) - 1
        weights =
            bell.map { Float($0 / sum) } + [Float](repeating: 0, count: Int(BG_DECONVOLVE_RADIUS) - radius)
    }
}
