import Foundation
import OneDNNKit
import Testing

@Suite struct ResamplingTests {
    /// Where an index of the destination stands on the source.
    private func position(_ index: Int, _ size: Int, _ target: Int) -> Double {
        (Double(index) + 0.5) * Double(size) / Double(target) - 0.5
    }

    @Test(arguments: 1...3) func everySizeIsWhatPlainLoopsGive(spatialRank: Int) throws {
        for seed in 0..<UInt64(40) {
            var fixture = try Fixture(seed: seed)
            let size = (0..<spatialRank).map { _ in fixture.pick(1...7) }
            let kind = fixture.pick([Resampling.Kind.nearest, .linear])
            let source = Tensor.random(
                [fixture.pick(1...2), fixture.pick([1, 3, 16, 20])] + size, using: &fixture.generator)
            let targetSize = (0..<spatialRank).map { _ in fixture.pick(1...15) }
            let target = Tensor(source.dimensions.prefix(2) + targetSize) { _ in 0 }
            let expected = target.values.indices.map { place in
                let at = target.indices(place)
                let positions = (0..<spatialRank).map { position(at[2 + $0], size[$0], targetSize[$0]) }
                guard kind == .linear else {
                    let nearest = zip(positions, size).map { min(max(Int(($0 + 0.5).rounded(.down)), 0), $1 - 1) }
                    return source.repeating(Array(at.prefix(2)) + nearest)
                }
                // All corners of the cell around the position.
                return (0..<(1 << spatialRank)).reduce(0) { sum, corner in
                    var (weight, from) = (1.0, Array(at.prefix(2)))
                    for (d, position) in positions.enumerated() {
                        let share = position - position.rounded(.down)
                        let isUpper = corner >> d & 1 == 1
                        weight *= isUpper ? share : 1 - share
                        from.append(min(max(Int(position.rounded(.down)) + (isUpper ? 1 : 0), 0), size[d] - 1))
                    }
                    return sum + weight * source.repeating(from)
                }
            }
            let layout = fixture.pick([MemoryDescriptor.Layout.plain, .channelsLast])
            let operation = Resampling(
                kind, try MemoryDescriptor(source.dimensions, .float32, layout),
                destination: try MemoryDescriptor(target.dimensions, .float32, layout))
            // The weights come from positions up to 7 in float32, so each is wrong by up to 2^-21; 8 corners.
            expectClose(
                try fixture.run(operation, [.source: source]), expected, tolerance: kind == .nearest ? 0 : 0x1p-17,
                "seed \(seed): \(operation)")
        }
    }
}
