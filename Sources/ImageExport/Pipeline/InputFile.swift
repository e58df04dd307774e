import ChunkedCompute
import Glibc
package import ImageCodecs
import SystemText

/// Reads a whole input into memory that is kept from file to file.
package final class InputFile {
    private let memory = Scratch()
    private var count = 0
    /// When the file's content was last changed, in seconds since 1970.
    private(set) var modified = 0

    package init() {}

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory.bytes(count), count: count) }

    package func trim(above limit: Int) { memory.trim(above: limit) }

    /// Bytes read at a time; between them `pulse` is asked.
    private static let pieceBytes = 256 << 10

    /// - Throws: ``ExportFailure`` when the file is missing, not a regular file, too large, or cannot be read, and what
    ///   the pulse throws.
    package func read(_ path: String, limits: DecodeLimits, pulse: CodecPulse) throws {
        // Non-blocking, so that a pipe that took the file's place cannot hang the job; it is refused below.
        let fd = open(path.systemBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard fd >= 0 else { throw ExportFailure("unreadable", String(cString: strerror(errno))) }
        defer { close(fd) }
        try read(descriptor: fd, limits: limits, pulse: pulse)
    }

    /// Reads a file that is open, from its beginning.
    ///
    /// - Throws: As ``read(_:limits:pulse:)`` does.
    package func read(descriptor fd: Int32, limits: DecodeLimits, pulse: CodecPulse) throws {
        var status = stat()
        guard fstat(fd, &status) == 0 else { throw ExportFailure("unreadable", String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw ExportFailure("unreadable", "not a regular file") }
        modified = status.st_mtim.tv_sec
        let size = Int(status.st_size)
        guard size > 0 else { throw ExportFailure("unknownFormat", "the file is empty") }
        guard size <= limits.maxFileBytes else {
            throw ExportFailure("limit", "the file has \(size) bytes, more than the limit of \(limits.maxFileBytes)")
        }
        guard size <= limits.maxWorkingBytes else { throw ExportFailure.memoryShare(size, of: limits.maxWorkingBytes) }
        let base = memory.bytes(size)
        var filled = 0
        while filled < size {
            if filled > 0 { try pulse.check() }
            let n = pread(fd, base + filled, min(size - filled, Self.pieceBytes), off_t(filled))
            if n < 0 && errno == EINTR { continue }
            guard n >= 0 else { throw ExportFailure("unreadable", String(cString: strerror(errno))) }
            guard n > 0 else { break }
            filled += n
        }
        count = filled
    }
}

/// Why an item has no outputs, on its way to ``ItemResult/Failure``.
package struct ExportFailure: Error {
    package var code: String
    package var reason: String

    package init(_ code: String, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The item may pass with a larger share of the job's memory.
    package static func memoryShare(_ bytes: Int, of allowed: Int) -> ExportFailure {
        ExportFailure("memoryShare", "needs \(bytes >> 20) MiB of memory; \(allowed >> 20) MiB are allowed")
    }
}
