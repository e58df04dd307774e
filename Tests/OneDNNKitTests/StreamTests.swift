import Foundation
import Locking
import OneDNNKit
import SeededNumbers
import Testing

@Suite struct StreamTests {
    /// Layers that use scratchpads, blocked layouts and post-operations, each with its operands.
    private struct Work: @unchecked Sendable {
        // Unchecked: nobody writes to the inputs once they are made.
        let primitives: [Primitive]
        let inputs: [[Operand]]

        init(_ engine: CPUEngine) throws {
            var generator = SeededGenerator(seed: 5)
            func any(_ dimensions: [Int]) throws -> MemoryDescriptor {
                try MemoryDescriptor(dimensions, .float32, .chosenByPrimitive)
            }
            func plain(_ dimensions: [Int]) throws -> MemoryDescriptor { try MemoryDescriptor(dimensions, .float32) }
            let same = Window(strides: [1, 1], paddingBefore: [1, 1])
            let primitives = [
                try Primitive(
                    Convolution(
                        any([1, 32, 28, 28]), weights: any([48, 32, 3, 3]), destination: any([1, 48, 28, 28]),
                        window: same),
                    Attributes([.elementWise(.relu())]), on: engine),
                // Plain weights: multiplied through a scratchpad.
                try Primitive(
                    Convolution(
                        plain([1, 16, 20, 20]), weights: plain([24, 16, 3, 3]), destination: plain([1, 24, 20, 20]),
                        window: same), on: engine),
                try Primitive(
                    MatrixProduct(plain([2, 60, 64]), weights: plain([2, 64, 60]), destination: plain([2, 60, 60])),
                    on: engine),
                try Primitive(Softmax(plain([2, 60, 60]), axis: 2), on: engine),
                try Primitive(LayerNormalization(plain([60, 96]), epsilon: 1e-5), on: engine),
            ]
            self.primitives = primitives
            inputs = primitives.map { primitive in
                primitive.parameters.filter { $0.argument != .destination }.map { parameter in
                    let count = parameter.descriptor.byteCount / 4
                    return .input(
                        parameter.argument, Tensor.random([count], using: &generator).buffer(.float32))
                }
            }
        }

        /// The bytes of every destination, one primitive after the other.
        func results(_ engine: CPUEngine) throws -> [UInt8] {
            let stream = try CPUStream(on: engine)
            var bytes: [UInt8] = []
            for (primitive, inputs) in zip(primitives, inputs) {
                let count = try #require(primitive.descriptor(of: .destination)).byteCount
                let output = AlignedBuffer(byteCount: count)
                try stream.execute(primitive, inputs + [.output(output)])
                output.withUnsafeBytes { bytes += $0.prefix(count) }
            }
            return bytes
        }
    }

    /// Blocks until every body has run, each on a thread of its own, all begun before any goes on.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let (ready, start, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        for index in 0..<count {
            done.enter()
            Thread.detachNewThread {
                ready.signal()
                start.wait()
                body(index)
                done.leave()
            }
        }
        for _ in 0..<count { ready.wait() }
        for _ in 0..<count { start.signal() }
        done.wait()
    }

    @Test func streamsAtOnceGiveTheBytesOfOneAlone() throws {
        let engine = try CPUEngine()
        let work = try Work(engine)
        let alone = try work.results(engine)
        #expect(Set(alone).count > 100, "the results are numbers, not one byte all over")
        let different = Counter()
        onThreads(2) { _ in
            for _ in 0..<30 where (try? work.results(engine)) != alone { different.increase() }
        }
        #expect(different.value == 0)
    }

    @Test func noThreadIsEverStarted() async throws {
        // In a process of its own: other tests' threads come and go.
        await #expect(processExitsWith: .success) {
            @Sendable func threads() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            }
            // Threads of the process that are not computing may end meanwhile, so only more than before is a fault.
            let before = try threads()
            let engine = try CPUEngine()
            let work = try Work(engine)
            _ = try work.results(engine)
            guard try threads() <= before else { throw OneMoreThread() }
            // A thread that oneDNN has not been on yet, and primitives made by another.
            let failed = Counter()
            let thread = Thread {
                for _ in 0..<3 {
                    let count = try? threads()
                    if (try? work.results(engine)) == nil || (try? Work(engine)) == nil { failed.increase() }
                    if count == nil || (try? threads()) != count { failed.increase() }
                }
                failed.finish()
            }
            thread.start()
            failed.waitUntilFinished()
            guard failed.value == 0 else { throw OneMoreThread() }
        }
    }

    @Test func theScratchpadIsAsLargeAsTheMostDemandingPrimitive() throws {
        let engine = try CPUEngine()
        let work = try Work(engine)
        let largest = work.primitives.map(\.scratchpadByteCount).max() ?? 0
        #expect(largest > 0, "one of them uses a scratchpad")
        let stream = try CPUStream(on: engine)
        #expect(stream.scratchpadByteCount == 0)
        stream.reserveScratchpad(byteCount: largest)
        #expect(stream.scratchpadByteCount == largest)
        for (primitive, inputs) in zip(work.primitives, work.inputs) {
            let count = try #require(primitive.descriptor(of: .destination)).byteCount
            try stream.execute(primitive, inputs + [.output(AlignedBuffer(byteCount: count))])
        }
        #expect(stream.scratchpadByteCount == largest)
    }

    @Test func wrongOperandsAreRefusedByName() throws {
        let fixture = try Fixture(seed: 0)
        let descriptor = try MemoryDescriptor([2, 100], .float32)
        let primitive = try Primitive(ElementWise(.relu(), descriptor), on: fixture.engine)
        let (good, short) = (AlignedBuffer(byteCount: 800), AlignedBuffer(byteCount: 799))
        func refusal(_ operands: [Operand]) -> OneDNNError? {
            #expect(throws: OneDNNError.self) { try fixture.stream.execute(primitive, operands) }
        }
        #expect(refusal([.input(.source, good)])?.code == .operandMissing)
        #expect(refusal([.input(.source, good)])?.request.contains("destination") == true)
        #expect(refusal([.input(.source, good), .input(.weights, good), .output(good)])?.code == .operandUnexpected)
        #expect(refusal([.input(.source, good), .output(good), .output(good)])?.code == .operandUnexpected)
        #expect(refusal([.input(.source, short), .output(good)])?.code == .operandUnsuitable)
        #expect(refusal([.input(.source, good), .output(short)])?.code == .operandUnsuitable)
        #expect(refusal([.input(.source, good), .input(.destination, good)])?.code == .operandUnsuitable)
    }
}

private struct OneMoreThread: Error {}

/// A number that threads increase.
private final class Counter: Sendable {
    private let number = Lock(0)
    private let finished = DispatchSemaphore(value: 0)

    var value: Int { number.withLock { $0 } }
    func increase() { number.withLock { $0 += 1 } }
    func finish() { finished.signal() }
    func waitUntilFinished() { finished.wait() }
}
