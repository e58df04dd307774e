import Inference
import InferenceData
import Testing

@Suite struct NPZTests {
    private static let pair: [(name: String, tensor: Tensor)] = {
        do {
            return [
                ("first", try Tensor(.float32, shape: [2, 3], doubles: [0, 1, 2, 3, 4, 5])),
                ("größe/second", try Tensor(.int64, shape: [4], integers: [-1, 0, 1, 2])),
            ]
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    @Test func archivesOfNumPyAreRead() throws {
        let file = try Fixture.file("stored.npz", in: "NumPy")
        let archive = try NPZFile(file.open())
        #expect(archive.names == ["first", "second"])
        #expect(try archive.header(of: "second").elementType == .int64)
        #expect(try archive.array("first").doubles() == [0, 1, 2, 3, 4, 5])
        #expect(try archive.array("second").doubles() == [0, 1, 2, 3])
        #expect(dataError { () throws(DataError) in try archive.array("third") }?.code == .mismatch)
    }

    @Test func compressedMembersAreReadUpToTheLimit() throws {
        let file = try Fixture.file("compressed.npz", in: "NumPy")
        let archive = try NPZFile(file.open())
        #expect(try archive.array("first").doubles() == [0, 1, 2, 3, 4, 5])
        #expect(try archive.array("zeros", largestBytes: 4 << 20).count == 1 << 20)
        #expect(
            dataError { () throws(DataError) in
                try archive.array("zeros", largestBytes: 4 << 20 - 1)
            }?.code == .tooLarge)
    }

    @Test func whatIsWrittenIsReadBack() throws {
        let file = try TestFile([UInt8](repeating: 1, count: 5_000))
        try NPZWriter.write(Self.pair, to: file.descriptor)
        let archive = try NPZFile(file.open())
        #expect(archive.names == Self.pair.map(\.name))
        for (name, tensor) in Self.pair {
            let again = try archive.array(name)
            #expect(again.elementType == tensor.elementType && again.shape == tensor.shape)
            #expect(again.doubles() == tensor.doubles())
        }
        let other = try TestFile()
        try NPZWriter.write(Self.pair, to: other.descriptor)
        #expect(try other.bytes == file.bytes)
    }

    @Test func namesThatCannotBeAreRefused() throws {
        let file = try TestFile()
        let tensor = try Tensor(.float32, shape: [1])
        for tensors in [[], [("", tensor)], [("a", tensor), ("a", tensor)], [("a\0b", tensor)]] {
            #expect(
                dataError { () throws(DataError) in
                    try NPZWriter.write(tensors, to: file.descriptor)
                }?.code == .mismatch)
        }
        #expect(
            dataError { () throws(DataError) in
                try NPZWriter.write([("a", tensor)], to: -1)
            }?.code == .notWritable)
    }

    @Test func anArchiveCutAtAnyByteIsAnError() throws {
        let whole = try TestFile()
        try NPZWriter.write(Self.pair, to: whole.descriptor)
        let bytes = try whole.bytes
        for count in 0..<bytes.count {
            let file = try TestFile(bytes.prefix(count))
            let opened = try file.open()
            let error = dataError { () throws(DataError) in
                let archive = try NPZFile(opened)
                for (name, _) in Self.pair { _ = try archive.array(name) }
            }
            #expect(error?.code == .damaged, "cut at \(count)")
        }
    }

    @Test func aWrongByteInAMemberIsTold() throws {
        let bytes = try Fixture.bytes("stored.npz", in: "NumPy")
        // 5.0 as float32, the last element of the first member.
        let five: [UInt8] = [0, 0, 0xA0, 0x40]
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: five) })
        var changed = bytes
        changed[place] ^= 1
        let file = try TestFile(changed)
        let archive = try NPZFile(file.open())
        #expect(dataError { () throws(DataError) in try archive.array("first") }?.code == .damaged)
        #expect(try archive.array("second").count == 4)
    }

    @Test func archivesWithAnyByteChangedNeverCrash() throws {
        let whole = try TestFile()
        try NPZWriter.write(Self.pair, to: whole.descriptor)
        let bytes = try whole.bytes
        var faults = 0
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 0xFF
            let file = try TestFile(changed)
            let opened = try file.open()
            let error = dataError { () throws(DataError) in
                let archive = try NPZFile(opened)
                for name in archive.names { _ = try archive.array(name, largestBytes: 1 << 20) }
            }
            if error != nil { faults += 1 }
        }
        // Times, attributes and versions mean nothing here.
        #expect(faults > bytes.count / 2)
    }
}
