import SeededNumbers

/// Paints single rows; keeps its buffers between them.
final class RowPainter {
    private let scene: Scene
    private let width: Int
    // Rows of `width` values in one allocation: colour and texture contrast of the surface seen at each pixel, and the
    // texture itself. Raw pointers, because these loops are the whole cost and bounds checks keep them from
    // becoming vector code.
    private let rows: UnsafeMutablePointer<Float>
    private var red: UnsafeMutablePointer<Float> { rows }
    private var green: UnsafeMutablePointer<Float> { rows + width }
    private var blue: UnsafeMutablePointer<Float> { rows + 2 * width }
    private var coarseGain: UnsafeMutablePointer<Float> { rows + 3 * width }
    private var fineGain: UnsafeMutablePointer<Float> { rows + 4 * width }
    private var coarse: UnsafeMutablePointer<Float> { rows + 5 * width }
    private var fine: UnsafeMutablePointer<Float> { rows + 6 * width }
    private var warm: UnsafeMutablePointer<Float> { rows + 7 * width }
    private var sky: UnsafeMutablePointer<Float> { rows + 8 * width }
    private var coarseNoise: ValueNoise
    private var fineNoise: ValueNoise
    private var warmNoise: ValueNoise
    private var skyNoise: ValueNoise
    private let noiseSalt: UInt32

    init(_ scene: Scene) {
        self.scene = scene
        width = scene.width
        var random = SeededGenerator(seed: scene.textureSeed)
        let largest = max(6, Int.bitWidth - 1 - (max(scene.width, scene.height) / 4).leadingZeroBitCount)
        coarseNoise = ValueNoise(width: width, cells: 5...max(5, largest - 1), seed: random.next()) { _ in 0.55 }
        // A lens passes less of the finest octave.
        fineNoise = ValueNoise(width: width, cells: 1...4, seed: random.next()) { $0 == 1 ? 0.6 : 0.7 }
        warmNoise = ValueNoise(width: width, cells: 3...8, seed: random.next()) { _ in 0.03 }
        skyNoise = ValueNoise(width: width, cells: 4...largest, seed: random.next()) { cell in
            0.5 * Float(sign: .plus, exponent: cell - largest, significand: 1)
        }
        noiseSalt = UInt32(truncatingIfNeeded: random.next())
        rows = .allocate(capacity: 9 * width)
        rows.initialize(repeating: 0, count: 9 * width)
    }

    deinit { rows.deallocate() }

    func paint(y: Int, shapes: [Int], into row: UnsafeMutablePointer<UInt8>) {
        coarseNoise.fill(coarse, y: y)
        fineNoise.fill(fine, y: y)
        warmNoise.fill(warm, y: y)
        paintSky(y)
        for ridge in scene.ridges { paintRidge(ridge, y) }
        for index in shapes { paintShape(scene.shapes[index], y) }
        develop(y, into: row)
    }

    private func paintSky(_ y: Int) {
        let t = Float(y) / Float(scene.height)
        let (red, green, blue, coarseGain, fineGain, sky) = (red, green, blue, coarseGain, fineGain, sky)
        let (top, bottom) = (scene.skyTop, scene.skyBottom)
        let (r, g, b) = (mix(top.red, bottom.red, t), mix(top.green, bottom.green, t), mix(top.blue, bottom.blue, t))
        skyNoise.fill(sky, y: y)
        let (threshold, clouds) = (0.35 - 0.7 * scene.clouds, 0.3 + 0.6 * scene.clouds)
        for x in 0..<width {
            let cover = clouds * smoothstep(min(max((sky[x] - threshold) * 1.6, 0), 1))
            red[x] = mix(r, 0.93, cover)
            green[x] = mix(g, 0.93, cover)
            blue[x] = mix(b, 0.95, cover)
            coarseGain[x] = mix(top.coarse, 0.02, cover)
            fineGain[x] = 0
        }
    }

    private func paintRidge(_ ridge: Scene.Ridge, _ y: Int) {
        let line = Float(y) + 1
        let surface = ridge.surface.lit(1 - ridge.falloff * line / Float(scene.height))
        let canvas = Canvas(red, green, blue, coarseGain, fineGain)
        ridge.top.withUnsafeBufferPointer { top in
            for x in 0..<width { canvas.blend(surface, at: x, cover: min(max(line - top[x], 0), 1)) }
        }
    }

    private func paintShape(_ shape: Shape, _ y: Int) {
        // Two lines a row soften edges that run nearly along the row; the ends are exact.
        let upper = shape.span(at: Float(y) + 0.25) ?? (.infinity, -.infinity)
        let lower = shape.span(at: Float(y) + 0.75) ?? (.infinity, -.infinity)
        let (from, to) = (min(upper.0, lower.0), max(upper.1, lower.1))
        guard from < Float(width), to > 0 else { return }
        let columns = Int(max(from, 0))..<min(width, Int(min(to, Float(width))) + 1)
        let scale = shape.shading / max(to - from, 1)
        let canvas = Canvas(red, green, blue, coarseGain, fineGain)
        for x in columns {
            let (left, right) = (Float(x), Float(x) + 1)
            let first = max(0, min(right, upper.1) - max(left, upper.0))
            let second = max(0, min(right, lower.1) - max(left, lower.0))
            let lit = shape.surface.lit(1 + scale * (left - from) - shape.shading / 2)
            canvas.blend(lit, at: x, cover: 0.5 * (first + second))
        }
    }

    /// Texture, vignette and sensor noise; then 8 bits.
    private func develop(_ y: Int, into row: UnsafeMutablePointer<UInt8>) {
        let (halfWidth, halfHeight) = (Float(width) / 2, Float(scene.height) / 2)
        let scale = 1 / (halfWidth * halfWidth + halfHeight * halfHeight)
        let dy = Float(y) - halfHeight
        let salt = hash32(noiseSalt ^ UInt32(truncatingIfNeeded: y) &* 0x9E37_79B9)
        // The sum of four bytes has a standard deviation of 147.8.
        let strength = scene.noise / 147.8
        let (red, green, blue, warm) = (red, green, blue, warm)
        let (coarse, fine, coarseGain, fineGain) = (coarse, fine, coarseGain, fineGain)
        for x in 0..<width {
            let dx = Float(x) - halfWidth
            let corner = 1 - scene.vignette * (dx * dx + dy * dy) * scale
            let light = 255 * corner * (1 + coarse[x] * coarseGain[x] + fine[x] * fineGain[x])
            let bits = hash32(salt &+ UInt32(truncatingIfNeeded: x) &* 0x85EB_CA6B)
            let tint = warm[x] * (coarseGain[x] + fineGain[x]) * 90
            let gray = green[x] * light
            // Shot noise grows with the light.
            let noise = strength * (0.7 + gray * (0.6 / 255))
            // Cameras smooth colour noise away far more than brightness noise, so the channels share most of it.
            let (shared, own) = (noise * 0.94 * deviate(bits), noise * 0.34)
            row[4 * x] = level(red[x] * light + tint + shared + own * deviate(bits &* 0xC2B2_AE3D))
            row[4 * x + 1] = level(gray + shared + own * deviate(bits &* 0x9E37_79B1))
            row[4 * x + 2] = level(blue[x] * light - tint + shared + own * deviate(bits &* 0x85EB_CA77))
            row[4 * x + 3] = 255
        }
    }

    @inline(__always)
    private func deviate(_ bits: UInt32) -> Float {
        let sum = (bits & 255) &+ ((bits >> 8) & 255) &+ ((bits >> 16) & 255) &+ (bits >> 24)
        return Float(Int32(bitPattern: sum) &- 510)
    }

    @inline(__always)
    private func level(_ value: Float) -> UInt8 {
        UInt8(Int32(min(max(value + 0.5, 0), 255)))
    }
}

/// The rows that surfaces are laid over.
private struct Canvas {
    private let red: UnsafeMutablePointer<Float>
    private let green: UnsafeMutablePointer<Float>
    private let blue: UnsafeMutablePointer<Float>
    private let coarseGain: UnsafeMutablePointer<Float>
    private let fineGain: UnsafeMutablePointer<Float>

    init(
        _ red: UnsafeMutablePointer<Float>, _ green: UnsafeMutablePointer<Float>, _ blue: UnsafeMutablePointer<Float>,
        _ coarseGain: UnsafeMutablePointer<Float>, _ fineGain: UnsafeMutablePointer<Float>
    ) {
        self.red = red
        self.green = green
        self.blue = blue
        self.coarseGain = coarseGain
        self.fineGain = fineGain
    }

    @inline(__always)
    func blend(_ surface: Surface, at x: Int, cover: Float) {
        red[x] = mix(red[x], surface.red, cover)
        green[x] = mix(green[x], surface.green, cover)
        blue[x] = mix(blue[x], surface.blue, cover)
        coarseGain[x] = mix(coarseGain[x], surface.coarse, cover)
        fineGain[x] = mix(fineGain[x], surface.fine, cover)
    }
}
