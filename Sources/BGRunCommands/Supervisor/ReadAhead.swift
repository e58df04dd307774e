import CProcess
import Dispatch
import Glibc
import Synchronization
import SystemText

/// Has files read into memory before workers ask for them, one after the other, on a thread of its own.
///
/// They are sent to nowhere, which reads them as a worker would. `POSIX_FADV_WILLNEED` takes every page apart: 1.9 ms of
/// processor time for 6 MB in place of 0.6, and what reads those pages afterwards takes longer as well.
final class ReadAhead: Sendable {
    /// Of a file: what is longer keeps its worker busy for long enough to be read meanwhile.
    private static let maxBytes = 32 << 20

    /// Where the last ones were there without being read, one of so many items is looked at.
    static let lookInterval = 16
    private static let fewestAtHand = 64

    private let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
    private let queue = DispatchQueue(label: "bgrun.readahead")
    private let latestBegun = Atomic<Int>(-1)
    /// Inputs that were there, since the last that was not.
    private let atHandInRow = Atomic<Int>(0)

    deinit { close(nowhere) }

    /// What the inputs come from has them in memory already.
    var findsAllAtHand: Bool { atHandInRow.load(ordering: .relaxed) >= Self.fewestAtHand }

    /// Workers have begun this item and those before it, and read them themselves.
    func begun(_ item: Int) {
        if item > latestBegun.load(ordering: .relaxed) { latestBegun.store(item, ordering: .relaxed) }
    }

    /// Has an input of an item read, unless it is there. Returns at once.
    func read(_ path: String, bytes: Int64, for item: Int) {
        let file = open(path.systemBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return }
        let last = off_t(max(bytes, 1) - 1)
        if [0, last / 2, last].allSatisfy({ bg_is_at_hand(file, $0) }) {
            close(file)
            atHandInRow.add(1, ordering: .relaxed)
            return
        }
        atHandInRow.store(0, ordering: .relaxed)
        queue.async { [self] in
            defer { close(file) }
            var left = Self.maxBytes
            while left > 0, item > latestBegun.load(ordering: .relaxed) {
                let sent = sendfile(nowhere, file, nil, min(left, 1 << 20))
                guard sent > 0 else { break }
                left -= sent
            }
        }
    }
}
