/// How much a node multiplies and adds.
enum MultiplyAdds {
    /// Products that are summed up, of which each counts once: for convolutions `out * (in / groups) * kernel`, for matrix
    /// products `out * inner`. 0 for operators whose work is not in products, nil where an extent is not known.
    static func count(_ node: Node, _ facts: [String: Fact]) -> Int? {
        func extents(_ name: String?) -> [Int]? { name.flatMap { facts[$0]?.type.extents } }
        let (first, second) = (extents(node.inputs.first), extents(node.inputs.dropFirst().first))
        let out = extents(node.outputs.first)
        let factors: [Int]?
        switch node.operatorName {
        case "Conv", "ConvInteger":
            factors = both(out, second) { $0 + $1.dropFirst() }
        case "QLinearConv":
            factors = both(out, extents(node.inputs.dropFirst(3).first)) { $0 + $1.dropFirst() }
        case "ConvTranspose":
            factors = both(first, second) { $0 + $1.dropFirst() }
        case "MatMul", "MatMulInteger", "QLinearMatMul":
            factors = both(out, first) { $0 + $1.suffix(1) }
        case "Gemm":
            let isTransposed = node.int("transA") == 1
            factors = both(out, first) { $0 + (isTransposed ? $1.prefix(1) : $1.suffix(1)) }
        default:
            return 0
        }
        return factors.flatMap { try? Extents.count($0) }
    }

    private static func both(_ first: [Int]?, _ second: [Int]?, _ join: ([Int], [Int]) -> [Int]) -> [Int]? {
        guard let first, let second else { return nil }
        return join(first, second)
    }
}
