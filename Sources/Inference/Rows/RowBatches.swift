/// How the rows of a long array are divided. It follows from the model alone, so that every run of a job divides them in
/// the same way.
package struct RowBatches: Codable, Hashable, Sendable {
    /// The most rows that are worth being handed out, journaled and stored together: as many as are computed within a second.
    package var most: Int
    /// The fewest rows that are.
    package var fewest: Int
    /// Rows that go through the model at once; batches of a multiple need no filling up.
    package var atOnce: Int

    package init(most: Int, fewest: Int, atOnce: Int) {
        (self.most, self.fewest, self.atOnce) = (most, fewest, atOnce)
    }

    /// The rows of each batch: smaller ones towards the end, so that one worker does not go on for long after the others
    /// (guided self-scheduling, Polychronopoulos and Kuck 1987).
    ///
    /// - Parameters:
    ///   - count: Rows of the array.
    ///   - share: A batch has at most one such part of the rows that are left.
    ///   - limit: The most batches.
    /// - Returns: nil where there are more.
    package func ranges(of count: Int, share: Int, limit: Int) -> [Range<Int>]? {
        var ranges: [Range<Int>] = []
        var start = 0
        while start < count {
            guard ranges.count < limit else { return nil }
            let end = start + min(rows(ofRest: count - start, share), count - start)
            ranges.append(start..<end)
            start = end
        }
        return ranges
    }

    private func rows(ofRest count: Int, _ share: Int) -> Int {
        let wanted = max(min(count / share, most), fewest)
        let (groups, rest) = wanted.quotientAndRemainder(dividingBy: atOnce)
        return rest == 0 ? wanted : (groups + 1) * atOnce
    }
}

extension Model {
    /// - Parameters:
    ///   - extents: For names of extents that inputs leave open.
    ///   - usual: The most rows that go through the model at once; batches of so many are never too small.
    ///   - most: The most rows of a batch.
    /// - Returns: Nil where the model does not say enough.
    /// - Throws: `damaged` where shapes do not fit together.
    package func rowBatches(extents: [String: Int], usual: Int, most: Int) throws(ModelError) -> RowBatches? {
        guard let (types, together, isFixed) = batchTypes(extents) else { return nil }
        let inferred = try ShapeInference().infer(graph, inputs: types.mapValues { Fact($0) }).facts
        var multiplyAdds = 0
        for node in graph.nodes {
            guard let count = MultiplyAdds.count(node, inferred) else { return nil }
            let (sum, overflow) = multiplyAdds.addingReportingOverflow(count)
            if overflow { return nil }
            multiplyAdds = sum
        }
        var byteCount = 0
        for output in graph.outputs {
            guard let type = inferred[output.name]?.type, let extents = type.extents,
                let count = try? Extents.count(extents)
            else { return nil }
            let (sum, overflow) = byteCount.addingReportingOverflow(
                count.multipliedReportingOverflow(by: 8).partialValue)
            if overflow || sum < 0 { return nil }
            byteCount = sum
        }
        let perRow = max(multiplyAdds / together, 1)
        let affordable = min(Self.batchMultiplyAdds / perRow, Self.batchBytes / max(byteCount / together, 1))
        return RowBatches(
            most: min(max(affordable, usual), most), fewest: min(max(Self.fewestMultiplyAdds / perRow, 1), usual),
            atOnce: isFixed ? together : try rowsAtOnce(inputs: types, most: usual))
    }

    /// Inputs with the leading extent that is declared or given, 1 where it is open; nil where the model does not take rows.
    private func batchTypes(
        _ extents: [String: Int]
    ) -> (types: [String: TensorType], rows: Int, isFixed: Bool)? {
        var types: [String: TensorType] = [:]
        var rows: Set<Int> = []
        var isFixed = false
        for port in withExtents(extents).graph.inputs {
            guard var type = port.type, let leading = type.shape?.first else { return nil }
            isFixed = isFixed || leading.extent != nil
            if leading.extent == nil { type.shape?[0] = .known(1) }
            rows.insert(leading.extent ?? 1)
            types[port.name] = type
        }
        return rows.count == 1 ? rows.first.map { (types, $0, isFixed) } : nil
    }

    /// Some tens of milliseconds of one core, beside which a batch's own time is little.
    private static var fewestMultiplyAdds: Int { 2_500_000_000 }
    /// Within a second of one core, at tens of thousand millions a second.
    private static var batchMultiplyAdds: Int { 40_000_000_000 }
    /// Results are held until those of all rows are there; counted with 8 bytes for each number.
    private static var batchBytes: Int { 64 << 20 }
}
