import Inference
import InferenceData
import Testing

@Suite struct NPYHeaderTests {
    private static func bytes(_ text: String, version: [UInt8] = [1, 0]) -> [UInt8] {
        let count = text.utf8.count
        let length = [0, 8, 16, 24].prefix(version[0] == 1 ? 2 : 4).map { UInt8(truncatingIfNeeded: count >> $0) }
        return [0x93] + Array("NUMPY".utf8) + version + length + Array(text.utf8)
    }

    private static func parse(_ bytes: [UInt8]) -> Result<NPYHeader, DataError> {
        bytes.withUnsafeBytes { bytes in
            do throws(DataError) {
                return .success(try NPYHeader(parsing: bytes))
            } catch {
                return .failure(error)
            }
        }
    }

    private static func code(_ bytes: [UInt8]) -> DataError.Code? {
        if case .failure(let error) = parse(bytes) { error.code } else { nil }
    }

    @Test(arguments: [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        "{'shape':(2,3,),'descr':'<f4','fortran_order':False}",
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2L, 3L)}  \n",
    ])
    func waysToWriteTheSameHeaderAreOne(text: String) throws {
        let header = try Self.parse(Self.bytes(text)).get()
        #expect(header.elementType == .float32 && header.shape == [2, 3])
        #expect(!header.isFortranOrder && !header.isBigEndian)
        #expect(header.byteCount == 10 + text.utf8.count)
    }

    @Test(arguments: [
        "", "{", "{}", "[]", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} x",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3]}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}",
    ])
    func whatIsNoHeaderIsDamaged(text: String) {
        #expect(Self.code(Self.bytes(text)) == .damaged)
    }

    @Test(arguments: [
        "(4611686018427387904, 4)", "(99999999999999999999,)", "(4294967296, 4294967296, 4294967296)",
        "(2305843009213693952,)",
    ])
    func shapesThatCannotBeCountedAreTooLarge(shape: String) {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': \(shape), }"
        #expect(Self.code(Self.bytes(text)) == .tooLarge)
    }

    @Test func anAbsurdSizeIsRefusedBeforeMemoryIsReserved() throws {
        let header = Self.bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (1125899906842624,), }")
        let file = try TestFile(header + [UInt8](repeating: 0, count: 64))
        let opened = try file.open()
        #expect(dataError { () throws(DataError) in try NPYFile(opened) }?.code == .damaged)
    }

    @Test func anEmptyArrayWithAnAbsurdRowTakesNoMemory() throws {
        let file = try TestFile(
            Self.bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1152921504606846976), }"))
        let array = try NPYFile(file.open())
        #expect(try array.array().count == 0)
    }

    @Test func lengthsOfTheHeaderAreChecked() {
        #expect(Self.code(Array(Self.bytes("{}").prefix(9))) == .damaged)
        #expect(Self.code([0x93] + Array("NUMPY".utf8) + [2, 0, 0xFF, 0xFF, 0xFF, 0xFF]) == .tooLarge)
        #expect(Self.code([0x93] + Array("NUMPY".utf8) + [2, 0, 0xFF, 0xFF]) == .damaged)
        #expect(Self.code([0x93] + Array("NUMPY".utf8) + [1, 0, 0xFF, 0x00]) == .damaged)
        #expect(Self.code(Self.bytes("{}", version: [4, 0])) == .unsupported)
        let manyAxes = "{'descr': '<f4', 'fortran_order': False, 'shape': (\(String(repeating: "1,", count: 65)))}"
        #expect(Self.code(Self.bytes(manyAxes)) == .damaged)
    }

    @Test func headersWithAnyByteChangedNeverCrash() throws {
        let bytes = try Fixture.bytes("float32.npy", in: "NumPy")
        var sound = 0
        for place in 0..<128 {
            for value in [0x00, 0x20, 0x27, 0x29, 0x39, 0xFF] as [UInt8] {
                var changed = bytes
                changed[place] = value
                let file = try TestFile(changed)
                let opened = try file.open()
                do throws(DataError) {
                    sound += try NPYFile(opened).array().byteCount == 24 ? 1 : 0
                } catch {
                    #expect(!error.sentence.isEmpty)
                }
            }
        }
        // Blanks in the padding do no harm.
        #expect(sound > 50)
    }
}
