package import OpenCLKit

/// Measures which sizes the kernels run fastest with on one device.
///
/// A product of each shape class is timed with every candidate, then convolutions of 3 × 3 with and without fewer products.
package struct KernelTuner {
    /// What was measured, for people.
    package struct Figure: Codable, Hashable, Sendable {
        package var shapeClass: KernelTuning.ShapeClass
        package var width: Int
        package var tile: KernelTuning.Tile
        /// Multiply-adds in a nanosecond.
        package var rate: Double

        package init(shapeClass: KernelTuning.ShapeClass, width: Int, tile: KernelTuning.Tile, rate: Double) {
            self.shapeClass = shapeClass
            self.width = width
            self.tile = tile
            self.rate = rate
        }
    }

    package struct Outcome: Codable, Sendable {
        package var tuning: KernelTuning
        /// The best first, by shape class.
        package var figures: [Figure]
    }

    private let device: Device
    private let cache: ProgramCache
    private let progress: (_ done: Int, _ total: Int) -> Void
    private let shouldStop: () -> Bool

    /// - Parameters:
    ///   - device: What is measured.
    ///   - cache: Where compiled programs are kept.
    ///   - progress: Called behind each candidate.
    ///   - shouldStop: Asked before each candidate and during measurements.
    package init(
        device: Device, cache: ProgramCache, progress: @escaping (_ done: Int, _ total: Int) -> Void,
        shouldStop: @escaping () -> Bool
    ) {
        self.device = device
        self.cache = cache
        self.progress = progress
        self.shouldStop = shouldStop
    }

    /// A convolution of 3 × 3 with padding 1.
    package struct Problem: Sendable {
        package var channels: Int
        package var side: Int

        package init(channels: Int, side: Int) {
            self.channels = channels
            self.side = side
        }

        /// One of each shape class, as networks for pictures have them.
        package static let standard: [KernelTuning.ShapeClass: Problem] = [
            .few: Problem(channels: 256, side: 7), .some: Problem(channels: 128, side: 14),
            .many: Problem(channels: 64, side: 56),
        ]

        var multiplyAdds: Int { 9 * channels * channels * side * side }

        fileprivate func model() throws(ModelError) -> (model: Model, inputs: [String: Tensor]) {
            func numbers(_ count: Int) -> [Double] { (0..<count).map { Double(($0 * 7) % 13) / 13 - 0.5 } }
            let shape = [1, channels, side, side]
            let input = try Tensor(.float32, shape: shape, doubles: numbers(channels * side * side))
            let weights = try Tensor(
                .float32, shape: [channels, channels, 3, 3], doubles: numbers(9 * channels * channels))
            let node = Node(
                "Conv", opset: 11, inputs: ["x", "w"], outputs: ["y"], attributes: ["pads": .ints([1, 1, 1, 1])])
            let graph = Graph(
                inputs: [Graph.Port("x", TensorType(.float32, extents: shape))], outputs: [Graph.Port("y", nil)],
                initialisers: ["w": weights], nodes: [node])
            return (Model(graph: graph, opsets: ["": 11]), ["x": input])
        }
    }

    /// - Parameters:
    ///   - candidates: Tunings with one tile for all shapes.
    ///   - problems: What is timed for each shape class.
    ///   - channels: Numbers of channels with which fewer products are tried, rising.
    /// - Returns: The tuning that is best on the whole, with the figures.
    /// - Throws: `stopped`, with nothing changed, and `engine` where no candidate runs.
    package func tune(
        _ candidates: [KernelTuning], problems: [KernelTuning.ShapeClass: Problem] = Problem.standard,
        channels: [Int] = [32, 64, 128, 256]
    ) throws(ModelError) -> Outcome {
        let total = candidates.count + channels.count
        var figures: [Figure] = []
        var failure: ModelError?
        for (number, candidate) in candidates.enumerated() {
            var tuning = candidate
            tuning.winogradChannels = .max
            do throws(ModelError) {
                // A candidate that a driver does not take is no candidate.
                let kernels = try InferenceDevice(device: device, tuning: tuning, cache: cache)
                for (shapeClass, problem) in problems.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    guard let tile = tuning.tiles[shapeClass] else { continue }
                    let rate = Double(problem.multiplyAdds) / (try nanoseconds(problem, on: kernels))
                    figures.append(Figure(shapeClass: shapeClass, width: tuning.width, tile: tile, rate: rate))
                }
            } catch {
                if error.code == .stopped { throw error }
                failure = error
            }
            progress(number + 1, total)
        }
        guard var best = Self.best(candidates, figures) else {
            throw failure ?? .engine("there is nothing to choose from")
        }
        best.winogradChannels = try fewestChannels(channels, best) { progress(candidates.count + $0, total) }
        return Outcome(
            tuning: best,
            figures: figures.sorted { ($0.shapeClass.rawValue, -$0.rate) < ($1.shapeClass.rawValue, -$1.rate) })
    }

    /// The fastest tile of each shape class, all with the vectors that are fastest on the whole.
    package static func best(_ candidates: [KernelTuning], _ figures: [Figure]) -> KernelTuning? {
        let classes = Set(figures.map(\.shapeClass))
        var chosen: (tuning: KernelTuning, score: Double)?
        for width in Set(figures.map(\.width)).sorted() {
            guard var tuning = candidates.first(where: { $0.width == width }) else { continue }
            var score = 1.0
            for shapeClass in classes {
                let own = figures.filter { $0.width == width && $0.shapeClass == shapeClass }
                guard let fastest = own.max(by: { $0.rate < $1.rate }) else {
                    score = 0
                    continue
                }
                tuning.tiles[shapeClass] = fastest.tile
                score *= fastest.rate
            }
            if score > chosen?.score ?? 0 { chosen = (tuning, score) }
        }
        return chosen?.tuning
    }

    /// From how many channels on fewer products are faster every time.
    private func fewestChannels(
        _ channels: [Int], _ tuning: KernelTuning, _ progress: (Int) -> Void
    ) throws(ModelError) -> Int {
        var fewest = Int.max
        for (number, count) in channels.reversed().enumerated() {
            let problem = Problem(channels: count, side: 28)
            var (with, without) = (tuning, tuning)
            (with.winogradChannels, without.winogradChannels) = (1, .max)
            let fewer = try nanoseconds(problem, on: InferenceDevice(device: device, tuning: with, cache: cache))
            let plain = try nanoseconds(problem, on: InferenceDevice(device: device, tuning: without, cache: cache))
            progress(number + 1)
            if fewer >= plain { break }
            fewest = count
        }
        return fewest
    }

    /// The fastest of several runs, which a busy machine disturbs least; reading the result included.
    private func nanoseconds(_ problem: Problem, on kernels: InferenceDevice) throws(ModelError) -> Double {
        let (model, inputs) = try problem.model()
        let compiled = try OpenCLModel(model, on: kernels)
        // The first run compiles.
        _ = try compiled.execute(inputs, shouldStop: shouldStop)
        let clock = ContinuousClock()
        var times: [Double] = []
        for _ in 0..<7 {
            let start = clock.now
            _ = try compiled.execute(inputs, shouldStop: shouldStop)
            times.append((clock.now - start) / .nanoseconds(1))
        }
        return max(times.min() ?? 1, 1)
    }
}
