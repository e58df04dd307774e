import Inference
import InferenceData
import Testing

@Suite struct NPYAssemblyTests {
    @Test(arguments: [
        ElementType.float16, .float32, .float64, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64,
        .bool,
    ])
    func whatIsWrittenIsReadBack(type: ElementType) throws {
        for shape in [[], [4], [2, 3], [0, 3], [2, 1, 2]] {
            let count = shape.reduce(1, *)
            let tensor = try Tensor(type, shape: shape, doubles: (0..<count).map { Double($0 % 2) })
            let file = try TestFile(NPYAssembly.bytes(of: tensor))
            let array = try NPYFile(file.open())
            #expect(array.header.byteCount % 64 == 0)
            let again = try array.array()
            #expect(again.elementType == type && again.shape == shape)
            #expect(again.doubles() == tensor.doubles())
        }
    }

    @Test func partsMakeTheFileThatOneWriteMakes() throws {
        let whole = try Tensor(.float32, shape: [5, 2], doubles: (0..<10).map { Double($0) })
        let assembly = try NPYAssembly(elementType: .float32, rowShape: [2])
        let file = try TestFile([UInt8](repeating: 7, count: 1_000))
        // The second part first, as after a stop.
        #expect(try assembly.write(Batch.rows(3..<5, of: whole), firstRow: 3, to: file.descriptor) == 5)
        #expect(try assembly.write(Batch.rows(0..<3, of: whole), firstRow: 0, to: file.descriptor) == 3)
        try assembly.finish(rowCount: 5, to: file.descriptor)
        #expect(try file.bytes == NPYAssembly.bytes(of: whole))
        try assembly.finish(rowCount: 3, to: file.descriptor)
        #expect(try file.bytes == NPYAssembly.bytes(of: Batch.rows(0..<3, of: whole)))
    }

    @Test func theHeaderTakesTheSameRoomForAnyNumberOfRows() throws {
        let assembly = try NPYAssembly(elementType: .int64, rowShape: [3, 224, 224])
        for rows in [0, 1, 999, 1_000_000_000, .max] {
            #expect(assembly.header(rowCount: rows).count == assembly.headerByteCount)
        }
        #expect(assembly.offset(ofRow: 2) == assembly.headerByteCount + 2 * 3 * 224 * 224 * 8)
    }

    @Test func otherRowsAreRefused() throws {
        let assembly = try NPYAssembly(elementType: .float32, rowShape: [2])
        let file = try TestFile()
        for tensor in try [
            Tensor(.float32, shape: [1, 3]), Tensor(.float64, shape: [1, 2]), Tensor(.float32, shape: []),
        ] {
            #expect(
                dataError { () throws(DataError) in
                    try assembly.write(tensor, firstRow: 0, to: file.descriptor)
                }?.code == .mismatch)
        }
        #expect(
            dataError { () throws(DataError) in
                try NPYAssembly(elementType: .bfloat16, rowShape: [])
            }?.code == .unsupported)
        #expect(
            dataError { () throws(DataError) in
                try NPYAssembly(elementType: .float32, rowShape: [.max / 2, 4])
            }?.code == .tooLarge)
    }

    @Test func aDescriptorThatCannotBeWrittenToIsTold() throws {
        let assembly = try NPYAssembly(elementType: .float32, rowShape: [2])
        let rows = try Tensor(.float32, shape: [1, 2])
        #expect(
            dataError { () throws(DataError) in try assembly.write(rows, firstRow: 0, to: -1) }?.code == .notWritable)
        #expect(dataError { () throws(DataError) in try assembly.finish(rowCount: 0, to: -1) }?.code == .notWritable)
    }
}
