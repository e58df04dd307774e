import Dispatch
import Locking
import Testing

@Suite struct LockTests {
    private struct Refusal: Error {}

    private struct Key: ~Copyable {
        var turns = 0
    }

    @Test("of many threads, one at a time gets at the value")
    func exclusion() {
        let values = Lock<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for turn in 0..<1_000 { values.withLock { $0.append(thread * 1_000 + turn) } }
        }
        #expect(values.withLock { $0.sorted() } == Array(0..<8_000))
    }

    @Test("a body that throws lets go of the lock and keeps what it changed")
    func throwing() {
        let value = Lock(1)
        #expect(throws: Refusal.self) {
            try value.withLock { value in
                value = 2
                throw Refusal()
            }
        }
        #expect(value.withLock(\.self) == 2)
    }

    @Test("a value that cannot be copied stays where it is")
    func noncopyable() {
        let key = Lock(Key())
        for _ in 0..<3 { key.withLock { $0.turns += 1 } }
        #expect(key.withLock { $0.turns } == 3)
    }

    @Test("a value ends with its lock")
    func lifetime() {
        final class Guest: Sendable {}
        weak var guest: Guest?
        do {
            let lock = Lock(Guest())
            guest = lock.withLock(\.self)
            withExtendedLifetime(lock) { #expect(guest != nil) }
        }
        #expect(guest == nil)
    }
}
