import Foundation
import Glibc
import Inference
import Locking

/// bgrun's own CPU lane, in this process: each stream runs batches of its own on one thread.
final class LaneContestant: InferenceContestant {
    let title: String
    var streams: Int { runs.count }
    private let model: CompiledModel
    private let runs: [CompiledModel.Run]
    private let inputs: [String: Tensor]
    private var results: [String: Tensor]

    init(_ path: String, inputs: [String: Tensor], streams: Int, precision: Precision = .float32) throws {
        let name = if case .bfloat16 = precision { "bgrun bfloat16" } else { "bgrun" }
        title = name + (streams > 1 ? ", \(streams) streams" : "")
        let types = inputs.mapValues { TensorType($0.elementType, extents: $0.shape) }
        let model = try CompiledModel(ModelImporter().load(path: path), inputs: types, precision: precision)
        self.model = model
        runs = try (0..<streams).map { _ in try CompiledModel.Run(model) }
        self.inputs = inputs
        results = try runs.map { try $0.execute(inputs) }[0]
    }

    func run(_ count: Int) throws -> InferenceTime {
        let (wall, processor) = (seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID))
        let ends = Lock<[Result<(last: [String: Tensor], longest: Double), any Error>]>([])
        // The other threads of this process have nothing to do meanwhile.
        DispatchQueue.concurrentPerform(iterations: streams) { stream in
            let share = count / streams + (stream < count % streams ? 1 : 0)
            let end = Result { try batches(share, on: runs[stream]) }
            ends.withLock { $0.append(end) }
        }
        let all = try ends.withLock { try $0.map { try $0.get() } }
        results = all[0].last
        return InferenceTime(
            wall: seconds(CLOCK_MONOTONIC) - wall, processor: seconds(CLOCK_PROCESS_CPUTIME_ID) - processor,
            longest: all.map(\.longest).max() ?? 0)
    }

    private func batches(_ count: Int, on run: CompiledModel.Run) throws -> (last: [String: Tensor], longest: Double) {
        var (last, longest) = (results, 0.0)
        for _ in 0..<count {
            let start = seconds(CLOCK_MONOTONIC)
            last = try run.execute(inputs)
            longest = max(longest, seconds(CLOCK_MONOTONIC) - start)
        }
        return (last, longest)
    }

    /// Lines for the steps that take most, of some runs.
    func profile(lines count: Int) throws -> [String] {
        let profile = RunProfile()
        for _ in 0..<5 { _ = try runs[0].execute(inputs, profile: profile) }
        let times = model.times(profile)
        let whole = times.reduce(Duration.zero) { $0 + $1.total }
        return times.sorted { $0.total > $1.total }.prefix(count).map { time in
            let each = time.total / max(time.runs, 1)
            let rate = Double(time.floatingPointOperations) / (each / .nanoseconds(1))
            let share = 100 * (time.total / whole)
            return String(format: "%7.0f us %5.1f %% %6.1f Gflop/s  ", each / .microseconds(1), share, rate) + time.line
        }
    }

    func outputs() throws -> [String: [Float]] {
        results.mapValues { $0.elementType == .float32 ? $0.elements(as: Float.self) : $0.doubles().map { Float($0) } }
    }

    private func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
