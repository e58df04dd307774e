import Locking

/// What became of reading weights when they were wanted. Who looks at a tensor cannot be told of a failure; so the tensor
/// holds zeros then, and ``check()`` has to be asked before anything is made of it.
final class DeferredReads: Sendable {
    private let failure = Lock<ModelError?>(nil)

    func read(_ file: RegularFile, into target: UnsafeMutableRawBufferPointer, offset: Int) {
        do throws(ModelError) {
            try file.read(into: target, offset: offset)
        } catch {
            target.initializeMemory(as: UInt8.self, repeating: 0)
            failure.withLock { $0 = $0 ?? error }
        }
    }

    /// - Throws: `notReadable` when some read so far has failed.
    func check() throws(ModelError) {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
