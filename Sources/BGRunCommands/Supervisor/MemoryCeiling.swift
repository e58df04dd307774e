import ChunkedCompute
import Foundation
import Glibc
import JobLink

/// Has the kernel give a worker no more memory than its item may claim.
///
/// Claims are added up from what a picture's header says; a crafted file may have its library take more than that, such as
/// JPEG XL for a frame that is never shown. The library then gets no memory, and the item fails.
struct MemoryCeiling {
    /// What is not claimed: freed bytes that the heap keeps, stacks, tables of the codecs and of the language's runtime.
    private static let unclaimed: rlim_t = 512 << 20

    /// Bytes of data that the process had at its start.
    private let start: rlim_t

    /// Before the process is confined, after which it cannot be asked.
    init() {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmData:") }
        // `VmData:      1234 kB` (proc_pid_status(5)).
        let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { rlim_t($0) }
        start = (kilobytes ?? 0) << 10
    }

    /// Holds until the next call. On a device no limit holds, since its driver maps what it likes.
    func hold(to order: WorkOrder) {
        var limits = rlimit()
        let data = __rlimit_resource_t(RLIMIT_DATA.rawValue)
        guard getrlimit(data, &limits) == 0 else { return }
        limits.rlim_cur = limits.rlim_max
        if case .export(let picture) = order, picture.lane == .cpu {
            // The sum has room: a claim is a signed number.
            limits.rlim_cur = min(limits.rlim_max, start + Self.unclaimed + rlim_t(picture.claimBytes))
        }
        _ = setrlimit(data, &limits)
    }
}
