/// A constant setting of a node.
package indirect enum Attribute: Sendable {
    case int(Int)
    case float(Float)
    case string(String)
    case tensor(Tensor)
    case graph(Graph)
    case ints([Int])
    case floats([Float])
    case strings([String])

    package enum Kind: String, Sendable {
        case int, float, string, tensor, graph, ints, floats, strings
    }

    package var kind: Kind {
        switch self {
        case .int: .int
        case .float: .float
        case .string: .string
        case .tensor: .tensor
        case .graph: .graph
        case .ints: .ints
        case .floats: .floats
        case .strings: .strings
        }
    }
}
