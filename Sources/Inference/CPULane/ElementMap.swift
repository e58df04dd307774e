/// What a step computes of each element by itself, where oneDNN has no such function.
enum ElementMap: Sendable {
    /// Of float32, to float32.
    case erf
    /// Of float32: what is no number becomes that one.
    case replaceNaN(by: Float)
    /// Of 8-bit integers.
    case table(ByteTable)

    func apply(
        _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer
    ) throws(ModelError) {
        switch self {
        case .erf: try ErrorFunction.apply(source, to: target)
        case .replaceNaN(let filler):
            let (from, to) = (source.bindMemory(to: Float.self), target.bindMemory(to: Float.self))
            guard from.count >= to.count else { throw .damaged("\(from.count) elements do not give \(to.count)") }
            for place in to.indices { to[place] = from[place].isNaN ? filler : from[place] }
        case .table(let table): try table.apply(source, to: target)
        }
    }
}
