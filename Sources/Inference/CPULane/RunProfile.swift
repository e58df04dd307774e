import OneDNNKit

/// How long the steps of runs took. Runs without one measure nothing.
package final class RunProfile {
    /// One step of one run.
    package struct Span: Sendable {
        /// Number of the step.
        package var step: Int
        /// Since the profile was made.
        package var start: Duration
        package var length: Duration
    }

    package private(set) var spans: [Span] = []
    private let beginning = ContinuousClock.now

    package init() {}

    func measure(_ step: Int, _ body: () throws(ModelError) -> Void) throws(ModelError) {
        let start = ContinuousClock.now
        try body()
        spans.append(Span(step: step, start: start - beginning, length: ContinuousClock.now - start))
    }
}

extension CompiledModel {
    /// What a profile says of one step.
    package struct StepTime: Sendable {
        /// The node, and what computes it.
        package var line: String
        /// The operator, or `reorder` and `hold` for moves between steps.
        package var kind: String
        package var runs: Int
        package var total: Duration
        /// Of each run; 0 where nothing is computed.
        package var floatingPointOperations: Int
    }

    /// Times by step, in the order of the steps.
    package func times(_ profile: RunProfile) -> [StepTime] {
        let lines = stepLines
        var result = steps.indices.map { place in
            StepTime(
                line: lines[place], kind: kind(of: steps[place]), runs: 0, total: .zero,
                floatingPointOperations: steps[place].floatingPointOperations)
        }
        for span in profile.spans where result.indices.contains(span.step) {
            result[span.step].runs += 1
            result[span.step].total += span.length
        }
        return result
    }

    private func kind(of step: Step) -> String {
        switch step.action {
        case .execute(let primitive, _, _):
            primitive.name.hasPrefix("reorder") ? "reorder" : step.operatorName
        case .convolve, .gather, .map, .choose, .evaluate: step.operatorName
        case .hold: "hold"
        }
    }
}
