package import Inference

/// Tensors of single items made into one, and taken apart again, along the first axis.
package enum Batch {
    /// Tensors of one element type and one shape but for the first extent, behind each other.
    ///
    /// - Throws: `mismatch` where they differ, or there is none; `unsupported` for strings.
    package static func joined(_ tensors: [Tensor]) throws(DataError) -> Tensor {
        guard let first = tensors.first else { throw .mismatch("A batch of no items was asked for.") }
        guard first.elementType != .string else { throw .unsupported(["batches of strings"]) }
        if tensors.count == 1 { return first }
        var rows = 0
        for tensor in tensors {
            guard tensor.elementType == first.elementType, let count = tensor.shape.first,
                tensor.shape.dropFirst() == first.shape.dropFirst()
            else {
                throw .mismatch(
                    "Items of a batch have the shapes \(first.shape) of \(first.elementType.rawValue) and \(tensor.shape)"
                        + " of \(tensor.elementType.rawValue), which do not go together.")
            }
            rows += count
        }
        return try asDataError { () throws(ModelError) in
            try Tensor(unset: first.elementType, shape: [rows] + first.shape.dropFirst()) { target throws(ModelError) in
                var offset = 0
                for tensor in tensors {
                    try tensor.withBytes { source in
                        target[offset..<(offset + source.count)].copyBytes(from: source)
                        offset += source.count
                    }
                }
            }
        }
    }

    /// Positions of the first axis.
    ///
    /// - Throws: `mismatch` for a scalar, or positions that the tensor does not have; `unsupported` for strings.
    package static func rows(_ range: Range<Int>, of tensor: Tensor) throws(DataError) -> Tensor {
        guard tensor.elementType != .string else { throw .unsupported(["batches of strings"]) }
        guard let count = tensor.shape.first, range.lowerBound >= 0, range.upperBound <= count else {
            throw .mismatch(
                "Rows \(range.lowerBound) to \(range.upperBound) of the shape \(tensor.shape) were asked for.")
        }
        return try asDataError { () throws(ModelError) in
            try Tensor(unset: tensor.elementType, shape: [range.count] + tensor.shape.dropFirst()) {
                target throws(ModelError) in
                guard target.count > 0 else { return }
                let rowBytes = tensor.byteCount / count
                try tensor.withBytes { source in
                    target.copyBytes(from: source[(range.lowerBound * rowBytes)..<(range.upperBound * rowBytes)])
                }
            }
        }
    }
}
