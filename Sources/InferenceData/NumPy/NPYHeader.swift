package import Inference

/// What stands before the elements of a .npy file: NumPy's "NPY format", versions 1.0 to 3.0.
package struct NPYHeader: Hashable, Sendable {
    package var elementType: ElementType
    package var shape: [Int]
    /// Elements lie column by column; they are moved into row-major order when they are read.
    package var isFortranOrder: Bool
    /// Elements have their highest byte first; they are turned round when they are read.
    package var isBigEndian: Bool
    /// Bytes before the first element.
    package var byteCount: Int

    /// Length of the first axis; 1 for a scalar.
    package var rowCount: Int { shape.first ?? 1 }
    /// Shape of one row; empty for scalars and lists.
    package var rowShape: [Int] { Array(shape.dropFirst()) }
    /// Bytes of all elements; the initialiser has made sure that they can be counted.
    package var dataByteCount: Int { shape.contains(0) ? 0 : shape.reduce(elementType.byteCount, *) }

    /// What a header of any sane array fits into.
    package static let largestByteCount = 1 << 16
    static let signature: [UInt8] = [0x93] + Array("NUMPY".utf8)

    /// Reads a header from the first bytes of a file.
    ///
    /// - Throws: `damaged` for anything that is no header, `unsupported` for element types that tensors do not have,
    ///   `tooLarge` for a shape whose bytes cannot be counted, or a header above ``largestByteCount``.
    package init(parsing bytes: UnsafeRawBufferPointer) throws(DataError) {
        guard bytes.count >= 10, bytes.prefix(6).elementsEqual(Self.signature) else {
            throw .damaged("It does not begin as a .npy file does.")
        }
        let version = bytes[6]
        guard (1...3).contains(version), bytes[7] == 0 else {
            throw .unsupported(["version \(version).\(bytes[7]) of the .npy format"])
        }
        let (start, length): (Int, Int)
        if version == 1 {
            (start, length) = (10, Int(bytes[8]) | Int(bytes[9]) << 8)
        } else {
            guard bytes.count >= 12 else { throw .damaged("The .npy header ends early.") }
            let size = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
            (start, length) = (12, Int(size))
        }
        guard start + length <= Self.largestByteCount else {
            throw .tooLarge("The .npy header has \(length) bytes.")
        }
        guard bytes.count >= start + length else { throw .damaged("The .npy header ends early.") }
        guard let text = String(validating: bytes[start..<(start + length)], as: UTF8.self) else {
            throw .damaged("The .npy header is not text.")
        }
        let fields = try NPYDictionary(text)
        (elementType, isBigEndian) = try Self.type(fields.descriptor)
        isFortranOrder = fields.isFortranOrder
        shape = fields.shape
        byteCount = start + length
        let count = try asDataError { () throws(ModelError) in try Extents.count(fields.shape) }
        guard !count.multipliedReportingOverflow(by: elementType.byteCount).overflow else {
            throw .tooLarge("The shape \(shape) has more bytes than can be counted.")
        }
    }

    /// NumPy's type strings, e.g. `<f4`: byte order, kind, bytes.
    private static let types: [String: ElementType] = [
        "f2": .float16, "f4": .float32, "f8": .float64, "i1": .int8, "i2": .int16, "i4": .int32, "i8": .int64,
        "u1": .uint8, "u2": .uint16, "u4": .uint32, "u8": .uint64, "b1": .bool,
    ]

    private static func type(_ descriptor: String) throws(DataError) -> (ElementType, isBigEndian: Bool) {
        let order = descriptor.first
        guard let type = types[String(descriptor.dropFirst())], let order, "<>|=".contains(order) else {
            throw .unsupported(["elements of NumPy's type \"\(descriptor.prefix(40))\""])
        }
        return (type, order == ">" && type.byteCount > 1)
    }

    /// The type string of little-endian elements; nil for types that NumPy does not have.
    static func descriptor(of type: ElementType) -> String? {
        types.first { $0.value == type }.map { (type.byteCount == 1 ? "|" : "<") + $0.key }
    }
}
