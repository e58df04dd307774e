/// One application of an operator.
package struct Node: Sendable {
    /// Its name in the file, or one made of the operator and its place.
    package var name: String
    package var operatorName: String
    /// Empty for the standard's own operators.
    package var domain: String
    /// The version of the domain's operators that the model was written against.
    package var opset: Int
    /// Names of values; an empty one is an optional input that is left out.
    package var inputs: [String]
    package var outputs: [String]
    package var attributes: [String: Attribute]
    /// Nodes that passes have put behind this one, to be computed in one go: each takes the result of the one before, and
    /// nothing else does.
    package var followers: [Node] = []

    package init(
        _ operatorName: String, name: String = "", domain: String = "", opset: Int, inputs: [String],
        outputs: [String], attributes: [String: Attribute] = [:]
    ) {
        self.name = name.isEmpty ? operatorName : name
        self.operatorName = operatorName
        self.domain = domain
        self.opset = opset
        self.inputs = inputs
        self.outputs = outputs
        self.attributes = attributes
    }

    /// The node and its followers, each without followers of its own.
    package var chain: [Node] {
        guard !followers.isEmpty else { return [self] }
        var head = self
        head.followers = []
        return [head] + followers
    }

    /// The value that the chain is computed for.
    package var result: String { (followers.last ?? self).outputs.first ?? "" }

    /// How errors name it.
    package var place: String { "node \"\(name)\" (\(operatorName))" }

    package func has(_ attribute: String) -> Bool { attributes[attribute] != nil }

    package func int(_ attribute: String) -> Int? {
        if case .int(let value)? = attributes[attribute] { value } else { nil }
    }

    package func float(_ attribute: String) -> Double? {
        if case .float(let value)? = attributes[attribute] { Double(value) } else { nil }
    }

    package func string(_ attribute: String) -> String? {
        if case .string(let value)? = attributes[attribute] { value } else { nil }
    }

    package func tensor(_ attribute: String) -> Tensor? {
        if case .tensor(let value)? = attributes[attribute] { value } else { nil }
    }

    package func graph(_ attribute: String) -> Graph? {
        if case .graph(let value)? = attributes[attribute] { value } else { nil }
    }

    package func ints(_ attribute: String) -> [Int]? {
        if case .ints(let value)? = attributes[attribute] { value } else { nil }
    }

    package func floats(_ attribute: String) -> [Double]? {
        if case .floats(let value)? = attributes[attribute] { value.map { Double($0) } } else { nil }
    }

    package func strings(_ attribute: String) -> [String]? {
        if case .strings(let value)? = attributes[attribute] { value } else { nil }
    }

    package var subgraphs: [Graph] {
        attributes.sorted { $0.key < $1.key }.compactMap { if case .graph(let graph) = $0.value { graph } else { nil } }
    }
}
