import Foundation
import Glibc
import Inference

/// bgrun's own CPU lane, in this process: each stream runs batches of its own on one thread.
final class LaneContestant: InferenceContestant {
    let title: String
    var streams: Int { list.count }
    private let model: BatchModel
    private let list: [Stream]

    /// A run and what its last batches came to.
    private final class Stream: @unchecked Sendable {
        // Unchecked: one thread at a time uses it, and nobody looks at it before that thread has ended.
        let run: BatchModel.Run
        let inputs: [String: Tensor]
        var outcome: Result<[String: Tensor], any Error>
        /// Seconds.
        var longest = 0.0

        init(_ model: BatchModel, _ inputs: [String: Tensor]) throws {
            run = try BatchModel.Run(model)
            self.inputs = inputs
            outcome = .success(try run.execute(inputs))
        }

        func batches(_ count: Int) {
            longest = 0
            for _ in 0..<count {
                let start = seconds(CLOCK_MONOTONIC)
                outcome = Result { try run.execute(inputs) }
                longest = max(longest, seconds(CLOCK_MONOTONIC) - start)
            }
        }
    }

    init(_ path: String, inputs: [String: Tensor], streams: Int, precision: Precision = .float32) throws {
        let name = if case .bfloat16 = precision { "bgrun bfloat16" } else { "bgrun" }
        title = name + (streams > 1 ? ", \(streams) streams" : "")
        let types = inputs.mapValues { TensorType($0.elementType, extents: $0.shape) }
        let model = try BatchModel(ModelImporter().load(path: path), inputs: types, precision: precision)
        self.model = model
        list = try (0..<streams).map { _ in try Stream(model, inputs) }
    }

    func run(_ count: Int) throws -> InferenceTime {
        let (wall, processor) = (seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID))
        // The other threads of this process have nothing to do meanwhile.
        DispatchQueue.concurrentPerform(iterations: streams) { [list] place in
            list[place].batches(count / list.count + (place < count % list.count ? 1 : 0))
        }
        for stream in list { _ = try stream.outcome.get() }
        return InferenceTime(
            wall: seconds(CLOCK_MONOTONIC) - wall, processor: seconds(CLOCK_PROCESS_CPUTIME_ID) - processor,
            longest: list.map(\.longest).max() ?? 0)
    }

    /// Lines for the steps that take most, of some runs.
    func profile(lines count: Int) throws -> [String] {
        let profile = RunProfile()
        for _ in 0..<5 { _ = try list[0].run.execute(list[0].inputs, profile: profile) }
        let times = model.compiled.times(profile)
        let whole = times.reduce(Duration.zero) { $0 + $1.total }
        return times.sorted { $0.total > $1.total }.prefix(count).map { time in
            let each = time.total / max(time.runs, 1)
            let rate = Double(time.floatingPointOperations) / (each / .nanoseconds(1))
            let share = 100 * (time.total / whole)
            return String(format: "%7.0f us %5.1f %% %6.1f Gflop/s  ", each / .microseconds(1), share, rate) + time.line
        }
    }

    func outputs() throws -> [String: [Float]] {
        try list[0].outcome.get().mapValues {
            $0.elementType == .float32 ? $0.elements(as: Float.self) : $0.doubles().map { Float($0) }
        }
    }
}

private func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
