import Glibc
import SystemText

/// Writes whole texts to descriptors. A byte of a name that is not UTF-8 is shown as `\xE4`; JSON has a character for it
/// (``JSONText``).
enum TextOutput {
    /// Writes all of a text.
    ///
    /// - Returns: 0, or the errno that ended it.
    static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text.shown
        return text.withUTF8 { write($0, to: descriptor) }
    }

    /// Writes all bytes.
    ///
    /// - Returns: As ``write(_:to:)-(String,_)``.
    static func write(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: Int32) -> Int32 {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count > 0 {
                done += count
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}

/// Standard output is for what was asked for: `--json`, `--dry-run`, `--report -`.
enum StandardOutput {
    /// - Returns: 0, or the errno that ended it.
    static func write(_ text: String) -> Int32 { TextOutput.write(text, to: STDOUT_FILENO) }
}

/// Text for a person goes to standard error.
enum StandardError {
    static func write(_ text: String) {
        // A closed terminal must not end the job.
        _ = TextOutput.write(text, to: STDERR_FILENO)
    }
}
