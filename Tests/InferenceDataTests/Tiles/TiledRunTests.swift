import Inference
import InferenceData
import Testing

@Suite struct TiledRunTests {
    private static func picture(_ width: Int, _ height: Int) throws -> Tensor {
        try Tensor(
            .float32, shape: [1, 3, height, width],
            doubles: (0..<(3 * width * height)).map { Double($0 * 7_919 % 256) / 255 })
    }

    /// Two convolutions of 5 × 5 with zeros around, and each pixel twice in both directions: looks 4 pixels far.
    private static func model(_ tile: Tensor) throws(DataError) -> Tensor {
        let (channels, height, width) = (tile.shape[1], tile.shape[2], tile.shape[3])
        var values = tile.elements(as: Float.self)
        for _ in 0..<2 {
            var next = [Float](repeating: 0, count: values.count)
            for channel in 0..<channels {
                for y in 0..<height {
                    for x in 0..<width {
                        var sum: Float = 0
                        for dy in -2...2 where (0..<height).contains(y + dy) {
                            for dx in -2...2 where (0..<width).contains(x + dx) {
                                let weight = Float(3 - abs(dx)) * Float(4 - abs(dy)) / 90
                                sum += weight * values[(channel * height + y + dy) * width + x + dx]
                            }
                        }
                        next[(channel * height + y) * width + x] = sum
                    }
                }
            }
            values = next
        }
        var doubled: [Float] = []
        for row in 0..<(channels * height * 2) {
            let start = row / 2 * width
            for x in 0..<(width * 2) { doubled.append(values[start + x / 2]) }
        }
        do throws(ModelError) {
            return try Tensor(.float32, shape: [1, channels, height * 2, width * 2], elements: doubled)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// The most by which tiles differ from the whole.
    private static func difference(margin: Int) throws -> Float {
        let picture = try picture(70, 45)
        let whole = try model(picture)
        let plan = try TilePlan(width: 70, height: 45, tile: 24, margin: margin)
        #expect(plan.tiles.count > 6)
        let tiled = try TiledRun.run(picture, plan: plan) { tile throws(DataError) in
            #expect(tile.shape == [1, 3, 24, 24])
            return try model(tile)
        }
        #expect(tiled.shape == [1, 3, 90, 140])
        return zip(whole.elements(as: Float.self), tiled.elements(as: Float.self)).map { abs($0 - $1) }.max()
            ?? .infinity
    }

    @Test func tileByTileIsTheSameAsTheWhole() throws {
        #expect(try Self.difference(margin: 4) <= 1.0 / 255)
        #expect(try Self.difference(margin: 4) < 1e-5)
    }

    @Test func aMarginThatIsTooSmallShows() throws {
        #expect(try Self.difference(margin: 1) > 1.0 / 255)
    }

    @Test func aSmallPictureIsOneTile() throws {
        let picture = try Self.picture(10, 6)
        let plan = try TilePlan(width: 10, height: 6, tile: 64, margin: 8)
        #expect(plan.tiles.count == 1)
        let tiled = try TiledRun.run(picture, plan: plan) { tile throws(DataError) in try Self.model(tile) }
        #expect(try tiled.doubles() == Self.model(picture).doubles())
    }

    @Test func resultsThatDoNotFitAreRefused() throws {
        let picture = try Self.picture(40, 40)
        let plan = try TilePlan(width: 40, height: 40, tile: 24, margin: 4)
        let other = try TilePlan(width: 41, height: 40, tile: 24, margin: 4)
        let wrong = try [
            Tensor(.float32, shape: [1, 3, 24]), Tensor(.float32, shape: [1, 3, 12, 12]),
            Tensor(.float32, shape: [1, 3, 24, 48]), Tensor(.float64, shape: [1, 3, 24, 24]),
            Tensor(.float32, shape: [2, 3, 24, 24]),
        ]
        for result in wrong {
            let error = dataError { () throws(DataError) in try TiledRun.run(picture, plan: plan) { _ in result } }
            #expect(error?.code == .mismatch, "\(result.shape)")
        }
        let planned = dataError { () throws(DataError) in try TiledRun.run(picture, plan: other) { $0 } }
        #expect(planned?.code == .mismatch)
        let large = dataError { () throws(DataError) in
            try TiledRun.run(picture, plan: plan, largestBytes: 10_000) { $0 }
        }
        #expect(large?.code == .memoryShare)
    }

    @Test func whatIsSmallerThanTheModelTakesIsRepeatedAtItsEnds() throws {
        for (width, height) in [(9, 5), (30, 7), (6, 40), (1, 1)] {
            let picture = try Self.picture(width, height)
            let plan = try TilePlan(width: width, height: height, tile: 16, margin: 4)
            let tiled = try TiledRun.run(picture, plan: plan, least: (20, 16)) { tile throws(DataError) in
                #expect(tile.shape == [1, 3, 16, 20])
                // Each pixel has the value of the one before it, at the ends of what is repeated too.
                let values = tile.elements(as: Float.self)
                let seen = min(width, 16)
                for row in 0..<48 {
                    let line = values[(row * 20)..<(row * 20 + 20)]
                    #expect(line.dropFirst(seen).allSatisfy { $0 == line[line.startIndex + seen - 1] })
                }
                return tile
            }
            #expect(tiled.shape == picture.shape)
            #expect(tiled.elements(as: Float.self) == picture.elements(as: Float.self))
        }
    }

    @Test func anErrorOfTheModelEndsTheRun() throws {
        let picture = try Self.picture(40, 40)
        let plan = try TilePlan(width: 40, height: 40, tile: 24, margin: 4)
        var count = 0
        let error = dataError { () throws(DataError) in
            try TiledRun.run(picture, plan: plan) { tile throws(DataError) in
                count += 1
                if count == 2 { _ = try ImagePreset.parse("") }
                return tile
            }
        }
        #expect(error?.code == .damaged && count == 2)
    }
}
