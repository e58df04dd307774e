import SeededNumbers

/// What stands in one picture, chosen from a seed: sky, ridges, and shapes from back to front.
///
/// Sizes follow the picture, so that the same seed shows the same scene at any resolution.
struct Scene {
    struct Ridge {
        /// First row of the ridge for each pixel column.
        let top: [Float]
        let surface: Surface
        /// How much darker the ridge is at the bottom of the picture.
        let falloff: Float
    }

    let width: Int
    let height: Int
    let skyTop: Surface
    let skyBottom: Surface
    /// 0 clear ... 1 overcast.
    let clouds: Float
    let ridges: [Ridge]
    let shapes: [Shape]
    /// Standard deviation of the sensor noise at middle gray, 8-bit levels.
    let noise: Float
    /// Darkening in the corners, 0 ... 0.35.
    let vignette: Float
    let textureSeed: UInt64

    init(seed: UInt64, width: Int, height: Int) {
        var random = SeededGenerator(seed: seed)
        self.width = width
        self.height = height
        textureSeed = random.next()
        let warmth = random.uniform(0...1)
        skyTop = Surface(
            red: 0.25 + 0.25 * warmth, green: 0.42 + 0.1 * warmth, blue: 0.78 - 0.2 * warmth, coarse: 0.015, fine: 0)
        skyBottom = Surface(
            red: 0.72 + 0.2 * warmth, green: 0.78, blue: 0.88 - 0.25 * warmth, coarse: 0.01, fine: 0)
        clouds = random.uniform(0...1)
        noise = random.uniform(1.8...4.2)
        vignette = random.uniform(0.05...0.35)

        let horizon = random.uniform(0.25...0.5) * Float(height)
        let ridgeCount = random.integer(2...3)
        ridges = (0..<ridgeCount).map { depth in
            Self.ridge(depth: depth, of: ridgeCount, horizon: horizon, width: width, height: height, &random)
        }

        var shapes: [Shape] = []
        if random.happens(0.6) { Self.addTown(to: &shapes, width, height, horizon, &random) }
        if random.happens(0.5) { Self.addStones(to: &shapes, width, height, horizon, &random) }
        Self.addFoliage(to: &shapes, width, height, &random)
        if random.happens(0.4) { Self.addWires(to: &shapes, width, height, &random) }
        self.shapes = shapes
    }

    private static func ridge(
        depth: Int, of count: Int, horizon: Float, width: Int, height: Int, _ random: inout SeededGenerator
    ) -> Ridge {
        let nearness = Float(depth + 1) / Float(count)
        let base = horizon + (Float(height) - horizon) * 0.55 * Float(depth) / Float(count)
        let relief = Float(height) * random.uniform(0.03...0.09)
        let largest = max(3, Int.bitWidth - 1 - (max(width, 16) / 3).leadingZeroBitCount)
        var line = ValueNoise(width: width, cells: 1...largest, seed: random.next()) { cell in
            // Treetops: the small cells are rougher than a bare slope would be.
            relief * max(0.004, Float(sign: .plus, exponent: cell - largest, significand: 0.5))
        }
        var top = [Float](repeating: 0, count: width + (1 << largest))
        top.withUnsafeMutableBufferPointer { row in
            if let row = row.baseAddress { line.fill(row, y: 0) }
        }
        for x in top.indices { top[x] += base }
        let (hue, light) = (random.uniform(0...1), random.uniform(0.75...1.15))
        let near = Surface(
            red: 0.22 + 0.28 * hue, green: 0.34 + 0.08 * hue, blue: 0.14 + 0.08 * hue, coarse: 0.20, fine: 0.5)
        let surface = Surface(
            red: mix(0.62, near.red, nearness) * light, green: mix(0.68, near.green, nearness) * light,
            blue: mix(0.76, near.blue, nearness) * light, coarse: near.coarse * nearness, fine: near.fine * nearness)
        return Ridge(top: top, surface: surface, falloff: random.uniform(0...0.4))
    }

    private static func addTown(
        to shapes: inout [Shape], _ width: Int, _ height: Int, _ horizon: Float, _ random: inout SeededGenerator
    ) {
        let scale = Float(min(width, height))
        let ground = horizon + random.uniform(0.12...0.3) * (Float(height) - horizon)
        for _ in 0..<random.integer(3...9) {
            let (halfWidth, tall) = (scale * random.uniform(0.02...0.09), scale * random.uniform(0.08...0.42))
            let x = random.uniform(0...1) * Float(width)
            let shade = random.uniform(0.35...0.85)
            let wall = Surface(
                red: shade, green: shade * random.uniform(0.85...1), blue: shade * random.uniform(0.7...1),
                coarse: 0.05, fine: 0.07)
            shapes.append(
                Shape(
                    .rectangle, x: x, y: ground - tall / 2, halfLength: halfWidth, halfWidth: tall / 2,
                    surface: wall, shading: random.uniform(-0.15...0.15)))
            let (columns, floors) = (random.integer(3...9), random.integer(4...14))
            let (pitchX, pitchY) = (2 * halfWidth / Float(columns), tall / Float(floors))
            for floor in 0..<floors {
                for column in 0..<columns {
                    let glass = wall.lit(random.uniform(0.2...0.6))
                    shapes.append(
                        Shape(
                            .rectangle, x: x - halfWidth + (Float(column) + 0.5) * pitchX,
                            y: ground - (Float(floor) + 0.5) * pitchY, halfLength: pitchX * 0.3,
                            halfWidth: pitchY * 0.33, surface: glass, shading: random.uniform(-0.2...0.3)))
                }
            }
        }
    }

    private static func addStones(
        to shapes: inout [Shape], _ width: Int, _ height: Int, _ horizon: Float, _ random: inout SeededGenerator
    ) {
        let scale = Float(min(width, height))
        for _ in 0..<random.integer(20...120) {
            let depth = random.uniform(0...1)
            let size = scale * (0.006 + 0.05 * depth * random.uniform(0.3...1))
            let gray = random.uniform(0.3...0.7)
            shapes.append(
                Shape(
                    .ellipse, x: random.uniform(0...1) * Float(width),
                    y: horizon + (0.3 + 0.7 * depth) * (Float(height) - horizon), halfLength: size,
                    halfWidth: size * random.uniform(0.4...0.8), angle: random.uniform(-0.4...0.4),
                    surface: Surface(red: gray, green: gray * 0.97, blue: gray * 0.9, coarse: 0.12, fine: 0.22),
                    shading: random.uniform(-0.4...0.4)))
        }
    }

    private static func addFoliage(
        to shapes: inout [Shape], _ width: Int, _ height: Int, _ random: inout SeededGenerator
    ) {
        let scale = Float(min(width, height))
        for _ in 0..<random.integer(4...12) {
            let (cx, cy) = (random.uniform(0...1) * Float(width), random.uniform(0.35...1) * Float(height))
            let radius = scale * random.uniform(0.08...0.28)
            let season = random.uniform(0...1)
            for _ in 0..<random.integer(400...1_500) {
                let size = scale * random.uniform(0.002...0.010)
                // The sum of two draws gathers the leaves towards the middle of the crown.
                let dx = random.uniform(-0.5...0.5) + random.uniform(-0.5...0.5)
                let dy = random.uniform(-0.5...0.5) + random.uniform(-0.5...0.5)
                let light = random.uniform(0.35...1.3)
                let leaf = Surface(
                    red: 0.18 + 0.45 * season, green: 0.36 + 0.08 * season, blue: 0.12, coarse: 0.08, fine: 0.16)
                shapes.append(
                    Shape(
                        .ellipse, x: cx + dx * radius, y: cy + dy * radius, halfLength: size,
                        halfWidth: size * random.uniform(0.25...0.5), angle: random.uniform(0...3.14159),
                        surface: leaf.lit(light), shading: random.uniform(-0.4...0.4)))
            }
        }
    }

    private static func addWires(
        to shapes: inout [Shape], _ width: Int, _ height: Int, _ random: inout SeededGenerator
    ) {
        let scale = Float(min(width, height))
        let dark = Surface(red: 0.1, green: 0.1, blue: 0.12, coarse: 0, fine: 0)
        for _ in 0..<random.integer(2...6) {
            shapes.append(
                Shape(
                    .rectangle, x: Float(width) / 2, y: random.uniform(0.03...0.4) * Float(height),
                    halfLength: Float(width), halfWidth: scale * random.uniform(0.0004...0.0012),
                    angle: random.uniform(-0.25...0.25), surface: dark))
        }
    }
}

@inline(__always)
func mix(_ a: Float, _ b: Float, _ t: Float) -> Float { a + (b - a) * t }
