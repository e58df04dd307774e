/// What a step computes of each element by itself, where oneDNN has no such function.
enum ElementMap: Sendable {
    /// Of float32, to float32.
    case erf
    /// Of 8-bit integers.
    case table(ByteTable)

    func apply(
        _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer
    ) throws(ModelError) {
        switch self {
        case .erf: try ErrorFunction.apply(source, to: target)
        case .table(let table): try table.apply(source, to: target)
        }
    }
}
