import Inference
import InferenceData
import Testing

@Suite struct NPYFileTests {
    private static func array(_ name: String) throws -> Tensor {
        let file = try Fixture.file(name, in: "NumPy")
        return try NPYFile(file.open()).array()
    }

    @Test(arguments: [
        ElementType.float16, .float32, .float64, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64,
    ])
    func everyElementTypeThatNumPyWroteIsRead(type: ElementType) throws {
        let tensor = try Self.array("\(type.rawValue).npy")
        #expect(tensor.elementType == type)
        #expect(tensor.shape == [2, 3])
        #expect(tensor.doubles() == [0, 1, 2, 3, 4, 5])
    }

    @Test func truthValuesScalarsListsAndEmptyArraysAreRead() throws {
        #expect(try Self.array("bool.npy").flags() == [true, false, true, false, false, true])
        let scalar = try Self.array("scalar.npy")
        #expect(scalar.shape == [] && scalar.doubles() == [2.5])
        let list = try Self.array("list.npy")
        #expect(list.shape == [5] && list.doubles() == [0, 1, 2, 3, 4])
        let empty = try Self.array("empty.npy")
        #expect(empty.shape == [0, 3] && empty.count == 0)
    }

    @Test(arguments: ["big-endian.npy", "big-endian-integers.npy", "version2.npy", "version3.npy"])
    func otherByteOrdersAndVersionsGiveTheSameValues(name: String) throws {
        let tensor = try Self.array(name)
        #expect(tensor.shape == [2, 3])
        #expect(tensor.doubles() == [0, 1, 2, 3, 4, 5])
    }

    @Test func columnsFirstIsTurnedIntoRowsFirst() throws {
        let file = try Fixture.file("fortran.npy", in: "NumPy")
        let array = try NPYFile(file.open())
        #expect(array.header.isFortranOrder)
        let tensor = try array.array()
        #expect(tensor.shape == [2, 3, 4])
        #expect(tensor.doubles() == (0..<24).map { Double($0) })
        #expect(try array.rows(1..<2).doubles() == (12..<24).map { Double($0) })
    }

    @Test func rowsAreReadWithoutTheOthers() throws {
        let file = try Fixture.file("float32.npy", in: "NumPy")
        let array = try NPYFile(file.open())
        #expect(array.rowCount == 2)
        let row = try array.rows(1..<2)
        #expect(row.shape == [1, 3] && row.doubles() == [3, 4, 5])
        #expect(try array.rows(1..<1).shape == [0, 3])
        #expect(dataError { () throws(DataError) in try array.rows(1..<3) }?.code == .mismatch)
        #expect(dataError { () throws(DataError) in try array.rows(0..<2, largestBytes: 23) }?.code == .tooLarge)
        #expect(try array.rows(0..<2, largestBytes: 24).count == 6)
        #expect(dataError { () throws(DataError) in try array.array(largestBytes: 23) }?.code == .tooLarge)
    }

    @Test func aRowOfNothingMayHaveAnyExtents() throws {
        let header = try NPYAssembly(elementType: .float32, rowShape: [1 << 62, 0]).header(rowCount: 1)
        let file = try TestFile(header)
        let array = try NPYFile(file.open())
        #expect(try array.rows(0..<1).shape == [1, 1 << 62, 0])
    }

    @Test(arguments: ["complex.npy", "structure.npy"])
    func typesThatTensorsDoNotHaveAreUnsupported(name: String) throws {
        let file = try Fixture.file(name, in: "NumPy")
        let opened = try file.open()
        let error = try #require(dataError { () throws(DataError) in try NPYFile(opened) })
        #expect(error.code == .unsupported && error.unsupported.count == 1)
    }

    @Test func aFileCutAtAnyByteIsAnError() throws {
        let bytes = try Fixture.bytes("float32.npy", in: "NumPy")
        for count in 0..<bytes.count {
            let file = try TestFile(bytes.prefix(count))
            let opened = try file.open()
            let error = try #require(dataError { () throws(DataError) in try NPYFile(opened) }, "cut at \(count)")
            #expect(error.code == .damaged && !error.sentence.isEmpty, "cut at \(count)")
        }
        let longer = try TestFile(bytes + [0])
        let opened = try longer.open()
        #expect(dataError { () throws(DataError) in try NPYFile(opened) }?.code == .damaged)
    }

    @Test func aFileThatShrinksUnderTheReaderIsAnError() throws {
        let file = try Fixture.file("float32.npy", in: "NumPy")
        let array = try NPYFile(file.open())
        try file.end(at: 140)
        #expect(dataError { () throws(DataError) in try array.array() }?.code == .damaged)
    }
}
