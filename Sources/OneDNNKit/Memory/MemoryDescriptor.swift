import COneDNN

/// Type, logical dimensions and layout of a tensor; no memory.
///
/// Dimensions are in logical order whatever the layout: N × C × spatial for activations, [G ×] O × I × spatial for
/// weights.
///
/// `@unchecked Sendable` is true because it is a plain value: the C structure holds numbers only.
package struct MemoryDescriptor: @unchecked Sendable {
    /// How elements lie in memory.
    package enum Layout: Hashable, Sendable {
        /// Row-major: the last dimension is contiguous.
        case plain
        /// The second dimension is contiguous, the others as in `plain`; NHWC for N × C × H × W.
        case channelsLast
        /// Blocks of 8 or 16 indices of the second dimension are contiguous, the others as in `plain`; for ranks of 3 to 5.
        case channelBlocks(of: Int)
        /// Left to the primitive, which tells its choice by ``Primitive/descriptor(of:)``.
        case chosenByPrimitive
    }

    var raw: dnnl_memory_desc_t

    /// - Parameters:
    ///   - dimensions: Up to 12, each at least 1.
    ///   - type: What an element is.
    ///   - layout: How they lie.
    /// - Throws: ``OneDNNError/Code/invalidArguments`` for other dimensions, ``OneDNNError/Code/libraryMissing``.
    package init(_ dimensions: [Int], _ type: DataType, _ layout: Layout = .plain) throws(OneDNNError) {
        let request = "a descriptor of \(dimensions) \(type)"
        try Self.validate(dimensions, request)
        switch layout {
        case .plain:
            try self.init(dimensions, type, strides: Self.strides(dimensions, order: Array(dimensions.indices)))
        case .channelsLast:
            let order = Self.channelsLast(dimensions.count)
            try self.init(dimensions, type, strides: Self.strides(dimensions, order: order))
        case .channelBlocks(let size):
            let tags = [
                8: [3: dnnl_nCw8c, 4: dnnl_nChw8c, 5: dnnl_nCdhw8c],
                16: [3: dnnl_nCw16c, 4: dnnl_nChw16c, 5: dnnl_nCdhw16c],
            ]
            guard let tag = tags[size]?[dimensions.count] else { throw OneDNNError(.invalidArguments, request) }
            try self.init(dimensions, type, tag: tag, request)
        case .chosenByPrimitive:
            try self.init(dimensions, type, tag: dnnl_format_tag_any, request)
        }
    }

    /// Any other regular layout.
    ///
    /// Primitives of oneDNN 2.6.3 compare and read the strides of dimensions with one element too, though these place nothing
    /// (`compare_layouts` and `get_op_type` in its `jit_uni_binary.cpp`), so equal places always get equal strides here.
    ///
    /// - Parameters:
    ///   - dimensions: Up to 12, each at least 1.
    ///   - type: What an element is.
    ///   - strides: Elements from one index to the next, for each dimension; at least 1. Those of dimensions with one element
    ///     do not matter.
    /// - Throws: ``OneDNNError/Code/invalidArguments``, ``OneDNNError/Code/libraryMissing``.
    package init(_ dimensions: [Int], _ type: DataType, strides: [Int]) throws(OneDNNError) {
        let request = "a descriptor of \(dimensions) \(type) with strides \(strides)"
        try Self.validate(dimensions, request)
        guard strides.count == dimensions.count else { throw OneDNNError(.invalidArguments, request) }
        for (dimension, stride) in zip(dimensions, strides) { try Self.validate([dimension, stride], request) }
        raw = dnnl_memory_desc_t()
        let library = try OneDNNLibrary.open()
        let counts = dimensions.map(Int64.init)
        let steps = Self.meaningful(strides, of: dimensions).map(Int64.init)
        try check(
            library.functions.dnnl_memory_desc_init_by_strides(&raw, Int32(counts.count), counts, type.raw, steps),
            request)
    }

    private init(
        _ dimensions: [Int], _ type: DataType, tag: dnnl_format_tag_t, _ request: String
    ) throws(OneDNNError) {
        raw = dnnl_memory_desc_t()
        let library = try OneDNNLibrary.open()
        let counts = dimensions.map(Int64.init)
        try check(
            library.functions.dnnl_memory_desc_init_by_tag(&raw, Int32(counts.count), counts, type.raw, tag), request)
    }

    init(_ raw: dnnl_memory_desc_t) { self.raw = raw }

    package var dimensions: [Int] { numbers(raw.dims) }
    package var rank: Int { Int(raw.ndims) }
    package var elementCount: Int { dimensions.reduce(1, *) }
    package var type: DataType { DataType(raw.data_type) ?? .float32 }
    package var isChosenByPrimitive: Bool { raw.format_kind == dnnl_format_kind_any }

    /// What a buffer needs: with the padding of blocked layouts, and with what oneDNN appends to 8-bit weights. 0 while
    /// the layout is to be chosen.
    package var byteCount: Int {
        guard !isChosenByPrimitive, let library = try? OneDNNLibrary.open() else { return 0 }
        return withUnsafePointer(to: raw) { library.functions.dnnl_memory_desc_get_size($0) }
    }

    /// Elements from one index to the next, for each dimension; nil for blocked layouts and those to be chosen.
    package var strides: [Int]? {
        guard raw.format_kind == dnnl_blocked, raw.format_desc.blocking.inner_nblks == 0 else { return nil }
        return numbers(raw.format_desc.blocking.strides)
    }

    /// The same dimensions and strides in another type. Blocked layouts have none.
    package func retyped(_ type: DataType) throws(OneDNNError) -> MemoryDescriptor? {
        guard let strides else { return nil }
        return try MemoryDescriptor(dimensions, type, strides: strides)
    }

    /// What a buffer needs of which only these elements are read or written: up to the end of the last one. Less than
    /// ``byteCount`` where the elements are a part of something larger.
    package var reachByteCount: Int {
        guard let strides, raw.extra.flags == 0 else { return byteCount }
        return (zip(dimensions, strides).reduce(1) { $0 + ($1.0 - 1) * $1.1 }) * type.byteCount
    }

    /// The same elements with the dimensions in another order: dimension `axes[i]` becomes dimension i. The layout in
    /// memory stays, so nothing is moved.
    ///
    /// - Throws: ``OneDNNError/Code/invalidArguments`` when `axes` is not a permutation.
    package func permuted(_ axes: [Int]) throws(OneDNNError) -> MemoryDescriptor {
        guard axes.sorted() == Array(0..<rank) else {
            throw OneDNNError(.invalidArguments, "\(self) permuted by \(axes)")
        }
        if raw.extra.flags == 0, let strides {
            return try MemoryDescriptor(axes.map { dimensions[$0] }, type, strides: axes.map { strides[$0] })
        }
        // oneDNN wants to know where each dimension goes.
        var targets = [Int32](repeating: 0, count: rank)
        for (target, axis) in axes.enumerated() { targets[axis] = Int32(target) }
        var (result, source) = (dnnl_memory_desc_t(), raw)
        try check(
            OneDNNLibrary.open().functions.dnnl_memory_desc_permute_axes(&result, &source, targets),
            "\(self) permuted by \(axes)")
        return MemoryDescriptor(result)
    }

    /// The same elements as a matrix of one row, for what treats each by itself; blocked layouts stay.
    package func inOneRow() throws(OneDNNError) -> MemoryDescriptor {
        strides == nil ? self : try MemoryDescriptor([1, elementCount], type)
    }

    /// The last two dimensions exchanged: how a matrix is passed that lies transposed.
    package func transposed() throws(OneDNNError) -> MemoryDescriptor {
        guard rank >= 2 else { throw OneDNNError(.invalidArguments, "\(self) transposed") }
        var axes = Array(0..<rank)
        axes.swapAt(rank - 2, rank - 1)
        return try permuted(axes)
    }

    /// The same dimensions in another type or layout.
    package func with(_ layout: Layout, _ type: DataType? = nil) throws(OneDNNError) -> MemoryDescriptor {
        try MemoryDescriptor(dimensions, type ?? self.type, layout)
    }

    /// The same places with the strides that ``init(_:_:strides:)`` gives; itself where the layout is blocked.
    package func normalised() throws(OneDNNError) -> MemoryDescriptor {
        guard raw.extra.flags == 0, let strides, numbers(raw.padded_dims) == dimensions else { return self }
        return try MemoryDescriptor(dimensions, type, strides: strides)
    }

    /// Whether elements stand where ``init(_:_:_:)`` would put them.
    package func hasPlaces(of layout: Layout) -> Bool {
        guard let other = try? with(layout) else { return false }
        return hasPlacesOf(other)
    }

    /// Whether every element stands at the same place in both, the dimensions being the same.
    package func hasPlacesOf(_ other: MemoryDescriptor) -> Bool {
        guard raw.format_kind == dnnl_blocked, other.raw.format_kind == dnnl_blocked else { return self == other }
        return hasDistances(of: other)
    }

    /// Whether all strides and blocks are the same, those of dimensions with one element too.
    func hasStrides(of other: MemoryDescriptor) -> Bool {
        guard raw.format_kind == dnnl_blocked, other.raw.format_kind == dnnl_blocked else { return self == other }
        return dimensions == other.dimensions && blocks == other.blocks
            && numbers(raw.format_desc.blocking.strides) == other.numbers(other.raw.format_desc.blocking.strides)
    }

    /// Whether elements of the same indices are equally far apart in both, which are no opaque layouts. The stride of a dimension
    /// in which the other has 1 element means nothing.
    private func hasDistances(of other: MemoryDescriptor) -> Bool {
        let (own, others) = (
            numbers(raw.format_desc.blocking.strides), other.numbers(other.raw.format_desc.blocking.strides)
        )
        return blocks == other.blocks
            && other.dimensions.indices.allSatisfy { other.dimensions[$0] == 1 || own[$0] == others[$0] }
    }

    /// Where a part stands whose elements lie in the whole as they lie by themselves.
    ///
    /// - Parameters:
    ///   - part: Of the same dimensions but for `axis`.
    ///   - axis: Along which it is a part.
    ///   - start: Its first index along `axis`.
    /// - Returns: Bytes from the first element of the whole; nil where the part lies otherwise.
    package func byteOffset(of part: MemoryDescriptor, axis: Int, start: Int) -> Int? {
        guard raw.format_kind == dnnl_blocked, part.raw.format_kind == dnnl_blocked,
            raw.data_type == part.raw.data_type,
            raw.extra.flags == 0, part.raw.extra.flags == 0, rank == part.rank, (0..<rank).contains(axis)
        else { return nil }
        let block = blocks.reduce(1) { $1.dimension == axis ? $0 * $1.count : $0 }
        guard hasDistances(of: part), start % block == 0, part.dimensions[axis] % block == 0,
            start + part.dimensions[axis] <= dimensions[axis],
            dimensions.indices.allSatisfy({ $0 == axis || dimensions[$0] == part.dimensions[$0] }),
            numbers(part.raw.padded_dims) == part.dimensions
        else { return nil }
        return start / block * numbers(raw.format_desc.blocking.strides)[axis] * type.byteCount
    }

    private struct Block: Equatable {
        var count: Int
        var dimension: Int
    }

    /// Those that lie together, from the outermost to the innermost.
    private var blocks: [Block] {
        let blocking = raw.format_desc.blocking
        let count = Int(blocking.inner_nblks)
        func first(_ values: dnnl_dims_t) -> [Int] {
            withUnsafeBytes(of: values) { $0.bindMemory(to: Int64.self).prefix(count).map(Int.init) }
        }
        return zip(first(blocking.inner_blks), first(blocking.inner_idxs)).map(Block.init)
    }

    private func numbers(_ values: dnnl_dims_t) -> [Int] {
        withUnsafeBytes(of: values) { $0.bindMemory(to: Int64.self).prefix(Int(raw.ndims)).map(Int.init) }
    }

    /// Strides of dimensions with one element become those of a row-major or channels-last tensor where the others are, else
    /// what the dimensions behind them take up.
    private static func meaningful(_ strides: [Int], of dimensions: [Int]) -> [Int] {
        guard dimensions.contains(1) else { return strides }
        for order in [Array(dimensions.indices), channelsLast(dimensions.count)] {
            let dense = Self.strides(dimensions, order: order)
            if dimensions.indices.allSatisfy({ dimensions[$0] == 1 || strides[$0] == dense[$0] }) { return dense }
        }
        var result = strides
        var next = 1
        for axis in dimensions.indices.reversed() {
            if dimensions[axis] == 1 { result[axis] = next }
            next = result[axis] * dimensions[axis]
        }
        return result
    }

    private static func channelsLast(_ rank: Int) -> [Int] {
        rank > 2 ? [0] + Array(2..<rank) + [1] : Array(0..<rank)
    }

    // `order`: dimensions from the outermost to the contiguous one.
    private static func strides(_ dimensions: [Int], order: [Int]) -> [Int] {
        var strides = dimensions
        var step = 1
        for dimension in order.reversed() {
            strides[dimension] = step
            step *= max(dimensions[dimension], 1)
        }
        return strides
    }

    private static func validate(_ dimensions: [Int], _ request: String) throws(OneDNNError) {
        var count = 1
        for dimension in dimensions {
            let (product, overflows) = count.multipliedReportingOverflow(by: dimension)
            guard dimension >= 1, !overflows, product <= Int.max / 16 else {
                throw OneDNNError(.invalidArguments, request)
            }
            count = product
        }
        guard (1...12).contains(dimensions.count) else { throw OneDNNError(.invalidArguments, request) }
    }
}

extension MemoryDescriptor: Hashable {
    package static func == (one: MemoryDescriptor, other: MemoryDescriptor) -> Bool {
        guard let library = try? OneDNNLibrary.open() else { return false }
        var (one, other) = (one.raw, other.raw)
        return library.functions.dnnl_memory_desc_equal(&one, &other) == 1
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(dimensions)
        hasher.combine(raw.data_type.rawValue)
    }
}

extension MemoryDescriptor: CustomStringConvertible {
    package var description: String {
        "\(dimensions.map(String.init).joined(separator: "x")) \(type) \(layoutName)"
    }

    /// The layout in oneDNN's notation: letters are dimensions from the outermost to the innermost, capitals are
    /// blocked ones, numbers with letters the blocks, e.g. `aBcd16b` for channels in blocks of 16.
    package var layoutName: String {
        guard raw.format_kind == dnnl_blocked else { return isChosenByPrimitive ? "any" : "opaque" }
        let (strides, padded) = (numbers(raw.format_desc.blocking.strides), numbers(raw.padded_dims))
        let blocks = blocks
        let outer = dimensions.indices.sorted {
            (strides[$0], padded[$0], -$0) > (strides[$1], padded[$1], -$1)
        }
        func letter(_ dimension: Int) -> String { String(UnicodeScalar(UInt8(97 + dimension))) }
        return outer.map { index in
            blocks.contains { $0.dimension == index } ? letter(index).uppercased() : letter(index)
        }.joined() + blocks.map { "\($0.count)\(letter($0.dimension))" }.joined()
    }
}
