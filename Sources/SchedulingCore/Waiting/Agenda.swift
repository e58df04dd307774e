import HeapModule
import TaskModel

/// Jobs in order of a key, for taking the first; entries that no longer count are dropped when they come up.
///
/// Inserting and taking cost O(log n). Removing is free: the owner gives a moved job another stamp, and says so by
/// ``forgetOne(isLive:)``, which now and then clears out what is dead at O(1) for each forgotten entry.
struct Agenda: Sendable {
    struct Entry: Comparable, Sendable {
        var key: Duration
        var id: JobID
        var stamp: UInt32

        static func < (left: Entry, right: Entry) -> Bool {
            left.key != right.key ? left.key < right.key : left.id < right.id
        }
    }

    private var heap = Heap<Entry>()
    private var dead = 0

    /// Live and dead entries.
    var count: Int { heap.count }

    mutating func insert(_ id: JobID, stamp: UInt32, at key: Duration) {
        heap.insert(Entry(key: key, id: id, stamp: stamp))
    }

    /// The first live entry, left in place.
    mutating func first(isLive: (Entry) -> Bool) -> Entry? {
        while let entry = heap.min {
            if isLive(entry) { return entry }
            heap.removeMin()
            dead = max(dead - 1, 0)
        }
        return nil
    }

    mutating func removeFirst() {
        _ = heap.popMin()
    }

    /// One entry stopped counting.
    mutating func forgetOne(isLive: (Entry) -> Bool) {
        dead += 1
        guard dead > 64, dead > heap.count / 2 else { return }
        heap = Heap(heap.unordered.filter(isLive))
        dead = 0
    }

    /// Every live entry, in no order; for questions a person asks.
    func entries(isLive: (Entry) -> Bool) -> [Entry] { heap.unordered.filter(isLive) }
}
