import OneDNNKit
import Testing

@Suite struct PoolingTests {
    @Test(arguments: 1...3) func everyWindowIsWhatPlainLoopsGive(spatialRank: Int) throws {
        for seed in 0..<UInt64(40) {
            var fixture = try Fixture(seed: seed)
            let range = 0..<spatialRank
            let kernel = range.map { _ in fixture.pick(1...3) }
            // Padding is shorter than the kernel, so that every window sees an element.
            let window = Window(
                strides: range.map { _ in fixture.pick(1...3) },
                paddingBefore: kernel.map { fixture.pick(0...($0 - 1)) },
                paddingAfter: kernel.map { fixture.pick(0...($0 - 1)) })
            let size = kernel.map { fixture.pick($0...9) }
            let kind = fixture.pick([Pooling.Kind.maximum, .averageWithPadding, .averageWithoutPadding])
            let source = Tensor.random(
                [fixture.pick(1...2), fixture.pick([1, 3, 16, 20])] + size, using: &fixture.generator)
            let shape = Tensor(source.dimensions.prefix(2) + window.outputSize(size, kernel: kernel)) { _ in 0 }
            let taps = Tensor(kernel) { _ in 0 }
            let expected = shape.values.indices.map { place in
                let at = shape.indices(place)
                let seen: [Double] = taps.values.indices.compactMap { tap in
                    let offset = taps.indices(tap)
                    let from = range.map { at[2 + $0] * window.strides[$0] + offset[$0] - window.paddingBefore[$0] }
                    guard zip(from, size).allSatisfy({ $0 >= 0 && $0 < $1 }) else { return nil }
                    return source.repeating(Array(at.prefix(2)) + from)
                }
                return switch kind {
                case .maximum: seen.max() ?? .nan
                case .averageWithPadding: seen.reduce(0, +) / Double(taps.values.count)
                case .averageWithoutPadding: seen.reduce(0, +) / Double(seen.count)
                }
            }
            let layout = fixture.pick([MemoryDescriptor.Layout.plain, .channelsLast])
            let operation = Pooling(
                kind, try MemoryDescriptor(source.dimensions, .float32, layout),
                destination: try MemoryDescriptor(shape.dimensions, .float32, layout), kernel: kernel, window: window)
            let result = try fixture.run(operation, [.source: source])
            // At most 27 elements up to 1 are added, each sum rounded by 2^-24 of at most 27, then divided by 27.
            expectClose(result, expected, tolerance: kind == .maximum ? 0 : 27 * 0x1p-24, "seed \(seed): \(operation)")
        }
    }

    @Test func reductionsKeepTheDimensionsThatTheDestinationHas() throws {
        for seed in 0..<UInt64(40) {
            var fixture = try Fixture(seed: seed)
            let dimensions = (0..<fixture.pick(2...4)).map { _ in fixture.pick(2...9) }
            var kept = dimensions.map { fixture.pick(0...1) == 1 ? $0 : 1 }
            kept[fixture.pick(0...(kept.count - 1))] = 1
            let kind = fixture.pick([Reduction.Kind.maximum, .minimum, .sum, .product, .mean])
            let source = Tensor.random(
                dimensions, in: kind == .product ? 0.9...1.1 : -1...1, using: &fixture.generator)
            let target = Tensor(kept) { _ in 0 }
            var groups = [[Double]](repeating: [], count: target.values.count)
            for place in source.values.indices {
                let at = zip(source.indices(place), kept).map { $1 == 1 ? 0 : $0 }
                groups[zip(at, target.strides).reduce(0) { $0 + $1.0 * $1.1 }].append(source.values[place])
            }
            let expected = groups.map { group in
                switch kind {
                case .maximum: group.max() ?? .nan
                case .minimum: group.min() ?? .nan
                case .sum: group.reduce(0, +)
                case .product: group.reduce(1, *)
                case .mean: group.reduce(0, +) / Double(group.count)
                }
            }
            let operation = Reduction(
                kind, try MemoryDescriptor(dimensions, .float32), destination: try MemoryDescriptor(kept, .float32))
            // n roundings of sums of at most n, relative to n for a sum and to 1 for a mean.
            let count = Double(groups[0].count)
            expectClose(
                try fixture.run(operation, [.source: source]), expected, tolerance: count * 0x1p-23,
                scale: kind == .sum ? count : 1, "seed \(seed): \(operation)")
        }
    }
}
