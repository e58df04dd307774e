/// Where buffers lie in one block of memory, such that those that are needed at the same time do not overlap.
///
/// First fit, largest buffer first (Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference, 2020,
/// "greedy by size").
package struct ArenaPlan: Sendable {
    /// A buffer and the steps during which it is needed.
    package struct Request: Sendable {
        package var byteCount: Int
        package var steps: ClosedRange<Int>

        package init(byteCount: Int, steps: ClosedRange<Int>) {
            self.byteCount = byteCount
            self.steps = steps
        }
    }

    /// The length of a cache line and of the widest register.
    package static let alignment = 64

    /// By request, multiples of the alignment.
    package let offsets: [Int]
    /// What all of them need together.
    package let byteCount: Int

    /// - Parameters:
    ///   - requests: Those of buffers within others are left out of account.
    ///   - nesting: Which those are, and where.
    package init(_ requests: [Request], _ nesting: BufferNesting = BufferNesting()) {
        var offsets = [Int](repeating: 0, count: requests.count)
        // In the order of their offsets.
        var placed: [Int] = []
        var end = 0
        let bySize = requests.indices.filter { nesting.place(of: $0).whole == $0 }.sorted {
            (requests[$1].byteCount, $0) < (requests[$0].byteCount, $1)
        }
        for number in bySize {
            let request = requests[number]
            var offset = 0
            for other in placed where requests[other].steps.overlaps(request.steps) {
                if offsets[other] >= offset + request.byteCount { break }
                offset = max(offset, Self.aligned(offsets[other] + requests[other].byteCount))
            }
            offsets[number] = offset
            end = max(end, offset + request.byteCount)
            placed.insert(number, at: placed.firstIndex { offsets[$0] > offset } ?? placed.count)
        }
        for number in requests.indices {
            let (whole, offset) = nesting.place(of: number)
            if whole != number { offsets[number] = offsets[whole] + offset }
        }
        self.offsets = offsets
        byteCount = end
    }

    private static func aligned(_ count: Int) -> Int { (count + alignment - 1) / alignment * alignment }
}

/// Buffers that lie within others.
package struct BufferNesting: Sendable {
    private var wholes: [Int: (whole: Int, offset: Int)] = [:]

    package init() {}

    /// The outermost buffer that a buffer lies in, which may be itself, and where in it, in bytes.
    package func place(of buffer: Int) -> (whole: Int, offset: Int) {
        var place = (whole: buffer, offset: 0)
        while let next = wholes[place.whole] { place = (next.whole, place.offset + next.offset) }
        return place
    }

    /// With the parts of a joint within its result; nil where one of them is within something already.
    package func adding(_ joint: Joint) -> BufferNesting? {
        var result = self
        for part in joint.parts where result.wholes.updateValue((joint.buffer, part.offset), forKey: part.buffer) != nil
        {
            return nil
        }
        return result
    }
}
