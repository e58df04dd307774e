package import Inference

/// The rows of a .npy file: positions of its first axis.
package struct NPYFile: Sendable {
    package let header: NPYHeader
    /// 1 for a scalar.
    package var rowCount: Int { header.rowCount }
    let file: OpenFile

    /// - Throws: as ``NPYHeader/init(parsing:)``, and `damaged` where the file has not the size that its header says.
    package init(_ file: OpenFile) throws(DataError) {
        self.file = file
        var start = [UInt8](repeating: 0, count: min(file.byteCount, NPYHeader.largestByteCount))
        header = try start.withMutableDataBytes { bytes throws(DataError) in
            try file.read(into: bytes, offset: 0)
            return try NPYHeader(parsing: UnsafeRawBufferPointer(bytes))
        }
        try header.check(fileBytes: file.byteCount)
    }

    /// Whether a row can be read by itself; those of a file in Fortran order lie all over it.
    package var hasRowsInOnePiece: Bool { !header.isFortranOrder || header.shape.count < 2 }

    /// Rows as a tensor of the shape `[rows.count] + header.rowShape`.
    ///
    /// - Throws: `mismatch` for rows that are not there, `tooLarge` where they have more than `largestBytes`, `damaged` or
    ///   `notReadable` where the file fails.
    package func rows(_ range: Range<Int>, largestBytes: Int = 1 << 30) throws(DataError) -> Tensor {
        guard range.lowerBound >= 0, range.upperBound <= rowCount else {
            throw .mismatch("Rows \(range.lowerBound)..<\(range.upperBound) of a file with \(rowCount) were asked for.")
        }
        guard hasRowsInOnePiece else {
            let all = try array(largestBytes: largestBytes)
            return range.count == rowCount ? all : try Batch.rows(range, of: all)
        }
        // Not of the row's extents: where one is 0, nobody has made sure that the others can be multiplied.
        let rowBytes = header.dataByteCount / max(rowCount, 1)
        try checkLimit(range.count * rowBytes, largestBytes)
        return try NPYElements.tensor(header, shape: [range.count] + header.rowShape) { bytes throws(DataError) in
            try file.read(into: bytes, offset: header.byteCount + range.lowerBound * rowBytes)
        }
    }

    /// The whole array with its own shape.
    package func array(largestBytes: Int = 1 << 30) throws(DataError) -> Tensor {
        try checkLimit(header.dataByteCount, largestBytes)
        return try NPYElements.tensor(header, shape: header.shape) { bytes throws(DataError) in
            try file.read(into: bytes, offset: header.byteCount)
        }
    }
}

/// - Throws: `tooLarge` for more bytes than the limit.
func checkLimit(_ byteCount: Int, _ largestBytes: Int) throws(DataError) {
    guard byteCount <= largestBytes else {
        throw .tooLarge("The array takes \(byteCount) bytes, more than the limit of \(largestBytes).")
    }
}

extension NPYHeader {
    /// - Throws: `damaged` where a file of that size cannot be the header's.
    func check(fileBytes: Int) throws(DataError) {
        let (wanted, overflow) = dataByteCount.addingReportingOverflow(byteCount)
        guard !overflow, wanted <= fileBytes else {
            throw .damaged("The header says \(shape) of \(elementType.rawValue), and the file ends early.")
        }
        guard wanted == fileBytes else {
            throw .damaged("The file has \(fileBytes - wanted) bytes more than its header says.")
        }
    }
}
