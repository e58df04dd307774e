package import Inference

/// A .npy file that is written in parts, of rows whose number is known last: its header takes the same room whatever that
/// number is, so that every row has its place from the beginning.
package struct NPYAssembly: Sendable {
    package let elementType: ElementType
    /// Shape of one row; empty for a list of numbers.
    package let rowShape: [Int]
    /// Bytes before the first row, a multiple of 64.
    package let headerByteCount: Int
    package let rowByteCount: Int
    private let descriptor: String

    /// - Throws: `unsupported` for strings and `bfloat16`, which NumPy has not; `tooLarge` for rows that cannot be counted,
    ///   `mismatch` for a negative extent.
    package init(elementType: ElementType, rowShape: [Int]) throws(DataError) {
        guard let descriptor = NPYHeader.descriptor(of: elementType) else {
            throw .unsupported(["\(elementType.rawValue) in a .npy file"])
        }
        let count = try asDataError { () throws(ModelError) in try Extents.count(rowShape) }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: elementType.byteCount)
        guard !overflow, rowShape.count < 64 else { throw .tooLarge("A row of the shape \(rowShape) is too large.") }
        self.elementType = elementType
        self.rowShape = rowShape
        self.descriptor = descriptor
        rowByteCount = bytes
        let longest = Self.text(descriptor, shape: [.max] + rowShape)
        headerByteCount = (10 + longest.utf8.count + 1 + 63) / 64 * 64
        guard headerByteCount - 10 <= UInt16.max else {
            throw .tooLarge("A row of the shape \(rowShape) is too large.")
        }
    }

    private static func text(_ descriptor: String, shape: [Int]) -> String {
        let extents = shape.map { "\($0)" }.joined(separator: ", ") + (shape.count == 1 ? "," : "")
        return "{'descr': '\(descriptor)', 'fortran_order': False, 'shape': (\(extents)), }"
    }

    /// The header of a file with so many rows, always of ``headerByteCount`` bytes.
    package func header(rowCount: Int) -> [UInt8] { header(shape: [rowCount] + rowShape) }

    /// The header of a file with one row that is no row, but all there is: without an axis of rows.
    package var headerOfWhole: [UInt8] { header(shape: rowShape) }

    private func header(shape: [Int]) -> [UInt8] {
        let text = Self.text(descriptor, shape: shape)
        let length = headerByteCount - 10
        return NPYHeader.signature + [1, 0, UInt8(length & 0xFF), UInt8(length >> 8)] + Array(text.utf8)
            + [UInt8](repeating: 0x20, count: length - 1 - text.utf8.count) + [0x0A]
    }

    /// Where a row begins in the file.
    package func offset(ofRow row: Int) -> Int { headerByteCount + row * rowByteCount }

    /// Where rows lie in the file; nil beyond what can be counted.
    package func range(ofRows rows: Range<Int>) -> Range<Int>? {
        let (end, overflow) = rows.upperBound.multipliedReportingOverflow(by: rowByteCount)
        guard !overflow, end <= Int.max - headerByteCount else { return nil }
        return offset(ofRow: rows.lowerBound)..<(headerByteCount + end)
    }

    /// Writes the rows of a tensor of the shape `[n] + rowShape` to their place.
    ///
    /// - Returns: Number of the row behind the last.
    /// - Throws: `mismatch` for a tensor of another type or shape, `notWritable`.
    package func write(_ rows: Tensor, firstRow: Int, to descriptor: Int32) throws(DataError) -> Int {
        guard rows.elementType == elementType, let count = rows.shape.first, Array(rows.shape.dropFirst()) == rowShape
        else {
            throw .mismatch(
                "Rows of \(elementType.rawValue) \(rowShape) were begun, and \(rows.elementType.rawValue) of the shape "
                    + "\(rows.shape) follow.")
        }
        try rows.withDataBytes { bytes throws(DataError) in
            try writeFully(bytes, to: descriptor, offset: offset(ofRow: firstRow))
        }
        return firstRow + count
    }

    /// Writes the header and ends the file behind the last row.
    package func finish(rowCount: Int, to file: Int32) throws(DataError) {
        try header(rowCount: rowCount).withDataBytes { bytes throws(DataError) in
            try writeFully(bytes, to: file, offset: 0)
        }
        try endFile(file, at: offset(ofRow: rowCount))
    }

    /// A whole file of one tensor, which may be a scalar.
    package static func bytes(of tensor: Tensor) throws(DataError) -> [UInt8] {
        let assembly = try NPYAssembly(elementType: tensor.elementType, rowShape: Array(tensor.shape.dropFirst()))
        var file = assembly.header(shape: tensor.shape)
        try tensor.withDataBytes { bytes throws(DataError) in file.append(contentsOf: bytes) }
        return file
    }
}
