import Inference

/// Elements as they lie in a .npy file, turned into those of a tensor.
enum NPYElements {
    /// A tensor that `read` fills with the file's bytes, which are then put into native order.
    ///
    /// - Parameters:
    ///   - header: Says how the bytes lie; its shape need not be that of the tensor, but for Fortran order.
    ///   - shape: Of the tensor.
    ///   - read: Fills the memory.
    /// - Returns: The elements in native order, row by row.
    /// - Throws: what `read` throws, and `tooLarge`.
    static func tensor(
        _ header: NPYHeader, shape: [Int], read: (UnsafeMutableRawBufferPointer) throws(DataError) -> Void
    ) throws(DataError) -> Tensor {
        var failure: DataError?
        let stored = try asDataError { () throws(ModelError) in
            try Tensor(unset: header.elementType, shape: header.isFortranOrder ? shape.reversed() : shape) { bytes in
                do throws(DataError) {
                    try read(bytes)
                } catch {
                    failure = error
                }
                if header.isBigEndian { swapBytes(bytes, of: header.elementType.byteCount) }
                if header.elementType == .bool {
                    for index in bytes.indices where bytes[index] > 1 { bytes[index] = 1 }
                }
            }
        }
        if let failure { throw failure }
        guard header.isFortranOrder, shape.count > 1 else { return stored }
        return try rowMajor(stored, shape: shape)
    }

    private static func swapBytes(_ bytes: UnsafeMutableRawBufferPointer, of size: Int) {
        switch size {
        case 2: for index in bytes.bindMemory(to: UInt16.self).indices { swap(bytes, UInt16.self, index) }
        case 4: for index in bytes.bindMemory(to: UInt32.self).indices { swap(bytes, UInt32.self, index) }
        case 8: for index in bytes.bindMemory(to: UInt64.self).indices { swap(bytes, UInt64.self, index) }
        default: break
        }
    }

    private static func swap<Element: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: UnsafeMutableRawBufferPointer, _: Element.Type, _ index: Int
    ) {
        let offset = index * MemoryLayout<Element>.stride
        bytes.storeBytes(
            of: bytes.load(fromByteOffset: offset, as: Element.self).byteSwapped, toByteOffset: offset, as: Element.self
        )
    }

    /// `stored` has the axes in reverse; the result has them in the order of `shape`.
    private static func rowMajor(_ stored: Tensor, shape: [Int]) throws(DataError) -> Tensor {
        let size = stored.elementType.byteCount
        // Elements from one position of each axis to the next, in the file.
        var strides = [Int](repeating: 1, count: shape.count)
        for axis in shape.indices.dropFirst() { strides[axis] = strides[axis - 1] * shape[axis - 1] }
        return try asDataError { () throws(ModelError) in
            try Tensor(stored.elementType, shape: shape) { target throws(ModelError) in
                try stored.withBytes { source in
                    var position = [Int](repeating: 0, count: shape.count)
                    var offset = 0
                    for index in 0..<stored.count {
                        target[(index * size)..<((index + 1) * size)].copyBytes(
                            from: source[(offset * size)..<((offset + 1) * size)])
                        var axis = shape.count - 1
                        while axis >= 0 {
                            position[axis] += 1
                            offset += strides[axis]
                            if position[axis] < shape[axis] { break }
                            offset -= strides[axis] * shape[axis]
                            position[axis] = 0
                            axis -= 1
                        }
                    }
                }
            }
        }
    }
}
