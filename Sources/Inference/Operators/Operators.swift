/// All operators that are implemented.
package enum Operators {
    /// The newest version of the standard's operators that is known here (ONNX 1.16).
    package static let newestOpset = 21

    package static let all: [OperatorDefinition] =
        elementwise + arrangement + indexing + reduction + product + convolution + normalisation + generation
        + quantisation + recurrence + control + signal + vision

    private static let byName: [String: OperatorDefinition] = Dictionary(
        all.map { ("\($0.domain):\($0.name)", $0) }, uniquingKeysWith: { _, last in last })

    package static func definition(_ name: String, domain: String) -> OperatorDefinition? {
        byName["\(domain):\(name)"]
    }

    package static func definition(of node: Node) -> OperatorDefinition {
        guard let definition = definition(node.operatorName, domain: node.domain) else {
            preconditionFailure("the graph has an operator that no importer lets pass: \(node.operatorName)")
        }
        return definition
    }
}
