/// A step of a prepared model, as the plan of its memory sees it.
protocol PlannedStep {
    /// Buffers of the arena that it reads or writes, by number.
    var buffers: [Int] { get }
    /// Tensors that it reads.
    var tensors: Set<String> { get }
    /// Tensors that it makes.
    var results: [String] { get }
    /// Tensors that nothing needs behind it.
    var released: [String] { get set }
}

extension Array where Element: PlannedStep {
    /// The steps with the tensors that nothing needs behind each.
    func releasing(allBut kept: Set<String>) -> [Element] {
        var last: [String: Int] = [:]
        for (place, step) in enumerated() {
            for name in step.tensors.union(step.results) { last[name] = place }
        }
        var result = self
        for (name, place) in last where !kept.contains(name) { result[place].released.append(name) }
        return result
    }

    /// Each buffer from the step that writes it to the last that reads it, with all that lies within it; `byteCounts` are those
    /// of the buffers.
    func requests(_ byteCounts: [Int], _ nesting: BufferNesting = BufferNesting()) -> [ArenaPlan.Request] {
        var ranges = [ClosedRange<Int>?](repeating: nil, count: byteCounts.count)
        for (place, step) in enumerated() {
            for buffer in step.buffers.map({ nesting.place(of: $0).whole }) {
                ranges[buffer] = (ranges[buffer]?.lowerBound ?? place)...place
            }
        }
        return zip(byteCounts, ranges).map { ArenaPlan.Request(byteCount: $0, steps: $1 ?? 0...0) }
    }
}
