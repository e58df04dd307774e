import COpenCL
import OpenCLFaults
import OpenCLKit
import TemporaryFolders
import Testing

@Suite(.serialized) struct FaultTests {
    private static let refusal: Int32 = -6

    /// Everything the kit does, once compiled from source and once loaded from a binary.
    private func useEverything(_ library: OpenCLLibrary, cache: ProgramCache) throws {
        let device = try Fixture.device(of: library)
        _ = try library.device(identity: device.info.identity)
        _ = try KnownAnswer.holds(on: device)
        let context = try Context(device: device)
        for _ in 0..<2 {
            let program = try cache.program(source: Fixture.source, options: "", in: context)
            let isRight = try Fixture.rampIsRight(with: program)
            #expect(isRight)
            cache.store(program)
        }
        let queue = try CommandQueue(context: context)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 64)
        defer { memory.deallocate() }
        let buffer = try Buffer(byteCount: 64, kind: .shared(memory), in: context)
        try queue.withMapped(buffer, .write) { $0[0] = 1 }
        try queue.finish()
    }

    @Test func noHandleIsLeftWhicheverCallFails() throws {
        opencl_faults_begin()
        defer { opencl_faults_end() }
        let library = OpenCLLibrary(functions: opencl_faults_wrap(try OpenCLLibrary.loadFunctions()))
        var call: Int32 = 1
        var refused = 0
        while true {
            let folder = try TemporaryFolder()
            let cache = ProgramCache(folder: folder.path)
            opencl_faults_arm(call, Self.refusal)
            do {
                try useEverything(library, cache: cache)
            } catch let error as OpenCLError {
                #expect(error.status == Self.refusal, "call \(call)")
                refused += 1
            }
            let live = opencl_faults_live()
            #expect(live == 0, "call \(call)")
            if opencl_faults_fired() == 0 { break }
            call += 1
        }
        // Only the cache and the search by identity go on after a refusal.
        #expect(refused > 60 && refused < call)
    }
}
