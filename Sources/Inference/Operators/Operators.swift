/// All operators that are implemented.
package enum Operators {
    package static let all: [OperatorDefinition] = withLaterVersions(
        elementwise + arrangement + indexing + reduction + product + convolution + normalisation + generation
            + quantisation + recurrence + control + signal + vision)

    /// Operators that are put together of others when a model is read, with the versions in which they came.
    package static var composed: [String: Int] { StandardFunctions.versions }

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
