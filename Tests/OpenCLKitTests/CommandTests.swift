import Glibc
import OpenCLKit
import Testing

@Suite struct CommandTests {
    @Test func bytesComeBackAsTheyWereWritten() throws {
        let context = try Fixture.context()
        let queue = try CommandQueue(context: context)
        let buffer = try Buffer(byteCount: 16, in: context)
        try queue.write([UInt8](0..<16), to: buffer)
        try [UInt8]([9, 8]).withUnsafeBytes { bytes in try queue.write(bytes, to: buffer, at: 3) }
        #expect(try queue.read(UInt8.self, count: 7, from: buffer) == [0, 1, 2, 9, 8, 5, 6])
        var tail: [UInt8] = [0, 0]
        try tail.withUnsafeMutableBytes { bytes in try queue.read(into: bytes, from: buffer, at: 14) }
        #expect(tail == [14, 15])
    }

    @Test func aKernelTakesBuffersAndAParameterStruct() throws {
        let context = try Fixture.context()
        let program = try Program.build(source: Fixture.source, options: "-Werror", in: context)
        #expect(try Fixture.rampIsRight(with: program))
    }

    @Test func aTwoDimensionalLaunchCoversARaggedEdge() throws {
        let context = try Fixture.context()
        let queue = try CommandQueue(context: context)
        let program = try Program.build(source: Fixture.source, options: "", in: context)
        let kernel = try Kernel("transpose", in: program)
        let input = try Buffer(byteCount: 13 * 5 * 4, in: context)
        let output = try Buffer(byteCount: 13 * 5 * 4, in: context)
        try queue.write([UInt32](0..<65), to: input)
        try kernel.setArgument(0, input)
        try kernel.setArgument(1, output)
        try kernel.setArgument(2, value: UInt32(13))
        try kernel.setArgument(3, value: UInt32(5))
        try queue.enqueue(kernel, global: (x: 13, y: 5), local: (x: 8, y: 2))
        try queue.finish()
        let found = try queue.read(UInt32.self, count: 65, from: output)
        let expected = (0..<65 as Range<UInt32>).map { index in index % 5 * 13 + index / 5 }
        #expect(found == expected)
    }

    @Test func localMemoryIsGivenToEachGroup() throws {
        let context = try Fixture.context()
        let queue = try CommandQueue(context: context)
        let kernel = try Kernel("group_sum", in: Program.build(source: Fixture.source, options: "", in: context))
        let input = try Buffer(byteCount: 64 * 4, in: context)
        let output = try Buffer(byteCount: 4 * 4, in: context)
        try queue.write([UInt32](0..<64), to: input)
        try kernel.setArgument(0, input)
        try kernel.setArgument(1, output)
        try kernel.setArgument(2, localByteCount: 16 * 4)
        try queue.enqueue(kernel, global: 64, local: 16)
        #expect(try queue.read(UInt32.self, count: 4, from: output) == [120, 376, 632, 888])
    }

    @Test func sharedMemoryIsUsedInPlace() throws {
        let context = try Fixture.context()
        let queue = try CommandQueue(context: context)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 4_096)
        defer { memory.deallocate() }
        memory.copyBytes(from: [UInt8](repeating: 5, count: 4_096))
        let buffer = try Buffer(byteCount: 4_096, kind: .shared(memory), in: context)
        try queue.withMapped(buffer, [.read, .write]) { bytes in
            #expect(bytes.baseAddress == memory.baseAddress)
            #expect(bytes.allSatisfy { $0 == 5 })
            bytes[7] = 77
        }
        #expect(try queue.read(UInt8.self, count: 9, from: buffer) == [5, 5, 5, 5, 5, 5, 5, 77, 5])
    }

    @Test func aMappedBufferShowsWhatKernelsWrote() throws {
        let context = try Fixture.context()
        let queue = try CommandQueue(context: context)
        let program = try Program.build(source: Fixture.source, options: "", in: context)
        let kernel = try Kernel("ramp", in: program)
        let buffer = try Buffer(byteCount: 400, kind: .hostAccessible, in: context)
        try queue.withMapped(buffer, .write) { $0.copyBytes(from: [UInt8](repeating: 0, count: 400)) }
        try kernel.setArgument(0, buffer)
        try kernel.setArgument(1, buffer)
        try kernel.setArgument(2, value: Fixture.RampParams(count: 100, step: 10))
        try queue.enqueue(kernel, global: 100, local: 64)
        var last: UInt32 = 0
        try queue.withMapped(buffer, .read) { last = $0.load(fromByteOffset: 396, as: UInt32.self) }
        #expect(last == 990)
    }

    @Test func aBufferBeyondTheDevicesLimitIsRefusedWithBothNumbers() throws {
        let context = try Fixture.context()
        let limit = context.device.info.maxAllocationBytes
        let error = try #require(throws: OpenCLError.self) { try Buffer(byteCount: limit + 1, in: context) }
        #expect(error.status == OpenCLError.invalidBufferSize)
        #expect(error.detail.contains("\(limit + 1)") && error.detail.contains("\(limit) "))
    }

    @Test func tooMuchLocalMemoryIsRefusedBeforeTheDriverSeesIt() throws {
        let context = try Fixture.context()
        let kernel = try Kernel("group_sum", in: Program.build(source: Fixture.source, options: "", in: context))
        let error = try #require(throws: OpenCLError.self) {
            try kernel.setArgument(2, localByteCount: context.device.info.localMemoryBytes + 1)
        }
        #expect(error.status == OpenCLError.outOfResources)
    }

    @Test func aGroupLargerThanTheKernelAllowsIsRefused() throws {
        let context = try Fixture.context()
        let queue = try CommandQueue(context: context)
        let kernel = try Kernel("ramp", in: Program.build(source: Fixture.source, options: "", in: context))
        let error = try #require(throws: OpenCLError.self) {
            try queue.enqueue(kernel, global: 1, local: kernel.maxWorkGroupSize + 1)
        }
        #expect(error.status == OpenCLError.invalidWorkGroupSize)
        #expect(error.detail.contains("ramp"))
    }

    @Test func aSourceErrorCarriesTheCompilersLog() throws {
        let context = try Fixture.context()
        let error = try #require(throws: OpenCLError.self) {
            try Program.build(source: "__kernel void broken() { undeclared = 1; }", options: "", in: context)
        }
        #expect(error.status == OpenCLError.buildProgramFailure)
        #expect(error.detail.contains("undeclared"))
        #expect(error.description.hasPrefix("clBuildProgram failed with OpenCL status -11 (CL_BUILD_PROGRAM_FAILURE)"))
    }
}
