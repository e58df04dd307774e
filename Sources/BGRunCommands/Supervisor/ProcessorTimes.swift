import Glibc

/// What the kernel counts of the processors for the thread that makes it. To be made while this process may still open files.
final class ProcessorTimes {
    private let idleFile = open("/proc/uptime", O_RDONLY | O_CLOEXEC)
    private let waitFile = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)

    deinit {
        for file in [idleFile, waitFile] where file >= 0 { close(file) }
    }

    /// In which processors had nothing to do since the machine started, of all together, in hundredths of a second (proc(5),
    /// uptime); nil when it cannot be read.
    var idle: Duration? {
        Self.words(idleFile).flatMap { $0.count == 2 ? Double($0[1]).map { .seconds($0) } : nil }
    }

    /// In which the thread could have run and others did (the kernel's scheduler/sched-stats, run_delay); nil when it
    /// cannot be read.
    var waiting: Duration? {
        Self.words(waitFile).flatMap { $0.count == 3 ? Int64($0[1]).map { .nanoseconds($0) } : nil }
    }

    private static func words(_ file: Int32) -> [Substring]? {
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self).split(whereSeparator: \.isWhitespace)
    }
}
