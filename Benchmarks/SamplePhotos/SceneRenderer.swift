import Dispatch

/// Paints a scene into interleaved 8-bit R, G, B and one unused byte.
struct SceneRenderer {
    private static let bandHeight = 128

    let scene: Scene
    /// Shapes that touch each band, in painting order.
    private let shapesByBand: [[Int]]

    init(_ scene: Scene) {
        self.scene = scene
        var byBand = [[Int]](
            repeating: [], count: (scene.height + Self.bandHeight - 1) / Self.bandHeight)
        for (index, shape) in scene.shapes.enumerated() {
            let rows = shape.rows.clamped(to: 0..<scene.height)
            guard !rows.isEmpty else { continue }
            for band in (rows.lowerBound / Self.bandHeight)...((rows.upperBound - 1) / Self.bandHeight) {
                byBand[band].append(index)
            }
        }
        shapesByBand = byBand
    }

    /// All pixels, row-major without padding, painted on every core.
    func pixels() -> [UInt8] {
        let (width, height) = (scene.width, scene.height)
        return [UInt8](unsafeUninitializedCapacity: width * height * 4) { bytes, count in
            count = width * height * 4
            guard let start = bytes.baseAddress else { return }
            // Bands are disjoint slices of one buffer that outlives the loop.
            nonisolated(unsafe) let target = start
            DispatchQueue.concurrentPerform(iterations: shapesByBand.count) { band in
                let rows = (band * Self.bandHeight)..<min(height, (band + 1) * Self.bandHeight)
                let painter = RowPainter(scene)
                for y in rows {
                    painter.paint(y: y, shapes: shapesByBand[band], into: target + y * width * 4)
                }
            }
        }
    }
}
