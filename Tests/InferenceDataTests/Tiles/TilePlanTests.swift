import InferenceData
import Testing

@Suite struct TilePlanTests {
    @Test(arguments: [
        (100, 60, 32, 4, 1), (33, 33, 32, 15, 1), (32, 32, 32, 8, 1), (1, 1, 64, 8, 1), (500, 3, 64, 10, 1),
        (128, 96, 32, 6, 4), (101, 77, 32, 6, 4), (1_000, 999, 256, 16, 8), (65, 64, 64, 0, 1),
    ])
    func keptPartsCoverThePictureOnceWithTheirMargins(
        width: Int, height: Int, tile: Int, margin: Int, multiple: Int
    ) throws {
        let plan = try TilePlan(width: width, height: height, tile: tile, margin: margin, multiple: multiple)
        var covered = [Int](repeating: 0, count: width * height)
        for part in plan.tiles {
            #expect(part.x >= 0 && part.x + part.width <= width && part.width <= max(tile, 1))
            #expect(part.y >= 0 && part.y + part.height <= height && part.height <= max(tile, 1))
            #expect(part.x % multiple == 0 && part.y % multiple == 0)
            // A margin on each side, but at the picture's edges.
            #expect(part.keptX - part.x >= margin || part.keptX == 0)
            #expect(part.keptY - part.y >= margin || part.keptY == 0)
            let (right, bottom) = (part.keptX + part.keptWidth, part.keptY + part.keptHeight)
            #expect(part.x + part.width - right >= margin || right == width)
            #expect(part.y + part.height - bottom >= margin || bottom == height)
            for y in part.keptY..<bottom { for x in part.keptX..<right { covered[y * width + x] += 1 } }
        }
        #expect(covered.allSatisfy { $0 == 1 })
        if width % multiple == 0, height % multiple == 0, width >= tile, height >= tile {
            #expect(Set(plan.tiles.map { [$0.width, $0.height] }) == [[tile, tile]])
        }
    }

    @Test func numbersThatDoNotGoTogetherAreRefused() {
        for (width, height, tile, margin, multiple) in [
            (0, 10, 8, 1, 1), (100, 10, 8, 4, 1), (100, 100, 8, -1, 1), (100, 100, 0, 0, 1), (100, 100, 30, 1, 4),
            (100, 100, 8, 1, 0), (100, 100, 32, 15, 4),
        ] {
            let error = dataError { () throws(DataError) in
                try TilePlan(width: width, height: height, tile: tile, margin: margin, multiple: multiple)
            }
            #expect(error?.code == .mismatch, "\(width) \(height) \(tile) \(margin) \(multiple)")
        }
    }
}
