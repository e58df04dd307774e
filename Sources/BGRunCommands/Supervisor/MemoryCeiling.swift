import ChunkedCompute
import Foundation
import Glibc
import JobLink

/// Has the kernel give a worker no more memory than its item may claim, while libraries read what may be crafted.
///
/// Claims are added up from what a picture's header says; a crafted file may have its library take more than that, such as
/// JPEG XL for a frame that is never shown. The library then gets no memory, and the item fails. Used by one thread.
final class MemoryCeiling {
    /// What is not claimed: freed bytes that the heap keeps, stacks, tables of the codecs and of the language's runtime.
    private static let unclaimed = 512 << 20

    /// `/proc/self/statm`, open: a confined process cannot open it. Negative where there is none.
    private let status: Int32
    /// Bytes of data that the process had at its start.
    private let start: Int

    /// A test's hook: runs once where a library reads an input, as if it did that.
    var fault: (() -> Void)?

    /// Before the process is confined, and after descriptors that it inherited were closed.
    init() {
        status = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        start = Self.dataBytes(status) ?? 0
    }

    /// Holds for an export until the next call, as all of its work is on the picture. A model's work needs what its own
    /// weights and values take, which is known and looked at before: there the ceiling holds where
    /// ``whileDecoding(on:claimBytes:_:)`` asks for it. On a device no limit holds, since its driver maps what it likes.
    func hold(to order: WorkOrder) {
        if case .export(let picture) = order, picture.lane == .cpu {
            limit(start, picture.claimBytes)
            strike()
        } else {
            lift()
        }
    }

    /// Holds beside what the process has already, such as a model, until `decode` ends.
    ///
    /// - Parameters:
    ///   - lane: Where the item's kernels run.
    ///   - claimBytes: What `decode` may take.
    ///   - decode: Has libraries read an input.
    /// - Returns: What `decode` gives.
    /// - Throws: What `decode` throws.
    func whileDecoding<Result, Failure>(
        on lane: LaneChoice, claimBytes: Int, _ decode: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard lane == .cpu, let held = Self.dataBytes(status) else { return try decode() }
        limit(held, claimBytes)
        defer { lift() }
        strike()
        return try decode()
    }

    private func strike() {
        fault?()
        fault = nil
    }

    private func limit(_ held: Int, _ claimBytes: Int) {
        let (sum, isTooLarge) = (held + Self.unclaimed).addingReportingOverflow(claimBytes)
        set(isTooLarge ? .max : rlim_t(sum))
    }

    private func lift() { set(.max) }

    private func set(_ bytes: rlim_t) {
        var limits = rlimit()
        let data = __rlimit_resource_t(RLIMIT_DATA.rawValue)
        guard getrlimit(data, &limits) == 0 else { return }
        limits.rlim_cur = min(limits.rlim_max, bytes)
        _ = setrlimit(data, &limits)
    }

    /// Bytes of private writable memory, stacks included; nil where the kernel does not tell them.
    private static func dataBytes(_ status: Int32) -> Int? {
        var text = [UInt8](repeating: 0, count: 128)
        let count = pread(status, &text, text.count, 0)
        guard count > 0 else { return nil }
        // Pages: size, resident, shared, text, lib, data, dt (proc_pid_statm(5)).
        let fields = String(decoding: text[..<count], as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return fields.count > 5 ? Int(fields[5]).map { $0 * sysconf(Int32(_SC_PAGESIZE)) } : nil
    }
}
