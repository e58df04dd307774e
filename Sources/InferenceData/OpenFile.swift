import Glibc
import SystemText

/// A regular file that somebody else has opened and keeps open; reading by position leaves its offset alone.
package struct OpenFile: Sendable {
    package let descriptor: Int32
    /// Bytes when it was looked at.
    package let byteCount: Int

    /// - Throws: `notReadable` where it is no regular file.
    package init(descriptor: Int32) throws(DataError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .notReadable("The file cannot be read: \(String(cString: strerror(errno))).")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notReadable("It is no regular file.") }
        self.descriptor = descriptor
        byteCount = Int(status.st_size)
    }

    /// Fills `target` with the bytes from `offset` on.
    ///
    /// - Throws: `notReadable` where reading fails, `damaged` where the file ends before.
    func read(into target: UnsafeMutableRawBufferPointer, offset: Int) throws(DataError) {
        let count = try readSome(into: target, offset: offset)
        guard count == target.count else { throw .damaged("The file ended while it was read.") }
    }

    /// As many bytes as there are from `offset` on, `target` full at most.
    func readSome(into target: UnsafeMutableRawBufferPointer, offset: Int) throws(DataError) -> Int {
        var done = 0
        while done < target.count, let base = target.baseAddress {
            let count = pread(descriptor, base + done, target.count - done, off_t(offset + done))
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw .notReadable("The file cannot be read: \(String(cString: strerror(errno))).")
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// The whole file.
    ///
    /// - Throws: as ``read(into:offset:)``, and `tooLarge` for a file above the limit.
    func bytes(limit: Int) throws(DataError) -> [UInt8] {
        guard byteCount <= limit else {
            throw .tooLarge("The file has \(byteCount) bytes, more than the limit of \(limit).")
        }
        var failure: DataError?
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            do throws(DataError) {
                try read(into: UnsafeMutableRawBufferPointer(buffer), offset: 0)
                count = byteCount
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}

/// Opens a file for the time of a call.
///
/// - Throws: `notReadable` where there is none that can be opened, and what `body` throws.
package func withOpenFile<Result>(
    _ path: String, _ body: (OpenFile) throws(DataError) -> Result
) throws(DataError) -> Result {
    // A pipe of that name must not hold us up.
    let descriptor = open(path.systemBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
        throw .notReadable("\(path) cannot be opened: \(String(cString: strerror(errno))).")
    }
    defer { close(descriptor) }
    return try body(try OpenFile(descriptor: descriptor))
}

/// Writes all bytes at a position of a file that is open for writing.
func writeFully(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, offset: Int) throws(DataError) {
    var done = 0
    while done < bytes.count, let base = bytes.baseAddress {
        let count = pwrite(descriptor, base + done, bytes.count - done, off_t(offset + done))
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw .notWritable("Writing failed: \(String(cString: strerror(errno))).") }
        done += count
    }
}

/// Cuts off, or fills up with zeros, what a file that is open for writing has behind a position.
func endFile(_ descriptor: Int32, at byteCount: Int) throws(DataError) {
    while ftruncate(descriptor, off_t(byteCount)) != 0 {
        guard errno == EINTR else { throw .notWritable("Writing failed: \(String(cString: strerror(errno))).") }
    }
}

extension [UInt8] {
    /// The bytes, for work that throws errors of data.
    func withDataBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(DataError) -> Result
    ) throws(DataError) -> Result {
        try withUnsafeBufferPointer { buffer throws(DataError) in try body(UnsafeRawBufferPointer(buffer)) }
    }

    /// The bytes to be written, for work that throws errors of data.
    mutating func withMutableDataBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer) throws(DataError) -> Result
    ) throws(DataError) -> Result {
        try withUnsafeMutableBufferPointer { buffer throws(DataError) in
            try body(UnsafeMutableRawBufferPointer(buffer))
        }
    }
}
