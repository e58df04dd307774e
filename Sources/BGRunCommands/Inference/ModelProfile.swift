import Foundation
import Inference

/// Runs a model a few times on made-up inputs and tells where the time goes.
struct ModelProfile {
    private let times: [CompiledModel.StepTime]
    private let spans: [RunProfile.Span]
    private let runs: Int
    private let whole: Duration

    /// - Parameters:
    ///   - model: What is run, on the thread that asks.
    ///   - extents: Of inputs, by name.
    ///   - runs: How often, after a first run that is not counted.
    /// - Throws: What compiling and running do; `wrongInput` where an extent is left open.
    init(_ model: Model, extents: [String: Int], runs: Int = 5) throws(ModelError) {
        let compiled = try CompiledModel(model, extents: extents)
        var inputs: [String: Tensor] = [:]
        for port in compiled.inputs { inputs[port.name] = try Self.input(port) }
        let run = try CompiledModel.Run(compiled)
        _ = try run.execute(inputs)
        let profile = RunProfile()
        let start = ContinuousClock.now
        for _ in 0..<runs { _ = try run.execute(inputs, profile: profile) }
        whole = ContinuousClock.now - start
        times = compiled.times(profile)
        spans = profile.spans
        self.runs = runs
    }

    private static func input(_ port: Graph.Port) throws(ModelError) -> Tensor {
        guard let type = port.type, type.extents != nil else {
            let open: [String] =
                port.type?.shape?.compactMap { if case .symbol(let name) = $0 { name } else { nil } } ?? []
            throw .wrongInput(
                "the input \"\(port.name)\" leaves open how large it is (\(open.joined(separator: ", ")))")
        }
        return try .madeUp(type, for: port.name)
    }

    /// A table by operator, and the steps that take most.
    func text(steps count: Int = 12) -> String {
        let each = whole / runs
        var lines = [
            "\(milliseconds(each)) ms a run on one thread, \(runs) runs with made-up inputs, \(times.count) steps"
        ]
        lines.append("\n      ms  share  steps  Gflop/s  operator")
        let kinds = Dictionary(grouping: times, by: \.kind).mapValues { steps in
            (time: steps.reduce(Duration.zero) { $0 + $1.total }, steps: steps)
        }
        for (kind, entry) in kinds.sorted(by: { ($1.value.time, $0.key) < ($0.value.time, $1.key) }) {
            let work = entry.steps.reduce(0) { $0 + $1.floatingPointOperations * $1.runs }
            let steps = String(entry.steps.count)
            lines.append(
                "\(columns(entry.time))  \(String(repeating: " ", count: max(0, 5 - steps.count)))\(steps)"
                    + "  \(rate(work, entry.time))  \(kind)")
        }
        lines.append("\n      ms  share  Gflop/s  step")
        for step in times.sorted(by: { $0.total > $1.total }).prefix(count) {
            lines.append(
                "\(columns(step.total))  \(rate(step.floatingPointOperations * step.runs, step.total))  \(step.line)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func columns(_ time: Duration) -> String {
        String(format: "%8.3f %5.1f%%", (time / runs) / .milliseconds(1), 100 * (time / whole))
    }

    private func rate(_ work: Int, _ time: Duration) -> String {
        work == 0 || time == .zero ? "      -" : String(format: "%7.1f", Double(work) / (time / .nanoseconds(1)))
    }

    private func milliseconds(_ time: Duration) -> String { String(format: "%.2f", time / .milliseconds(1)) }

    // MARK: Trace

    private struct Trace: Encodable {
        var traceEvents: [Event]
        var displayTimeUnit = "ms"
    }

    private struct Event: Encodable {
        var name: String
        var cat: String
        /// A span with its length.
        var ph = "X"
        /// Microseconds.
        var ts: Double
        var dur: Double
        var pid = 1
        var tid = 1
        var args: [String: String]
    }

    /// All spans in the JSON of Chrome's trace viewer (Trace Event Format), which Perfetto reads too.
    func trace() throws -> Data {
        let events = spans.map { span in
            Event(
                name: times[span.step].kind, cat: "step", ts: span.start / .microseconds(1),
                dur: span.length / .microseconds(1), args: ["step": times[span.step].line])
        }
        return try JSONEncoder().encode(Trace(traceEvents: events))
    }
}
