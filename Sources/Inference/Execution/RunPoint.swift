/// Where a run asks whether to stop.
package enum RunPoint: Sendable {
    /// Before a step of the model.
    case step
    /// Before a run of a subgraph within a step, e.g. an iteration of a loop; `ends` where the model says how many there are
    /// at most.
    case subgraph(ends: Bool)
}

extension Operators {
    /// The most iterations that count as a limit: for a loop that only its condition ends, exporters write the largest number
    /// of 32 or 64 bits.
    private static let largestLimit = Int(Int32.max) - 1

    /// Whether it is known before it runs how often a node runs its subgraphs at most.
    static func ends(_ node: Node, _ inputs: [Tensor?]) -> Bool {
        guard node.isStandard("Loop") else { return true }
        guard let limit = inputs.first.flatMap({ $0 })?.indices().first else { return false }
        return limit <= largestLimit
    }
}
