import Foundation
import SystemText

/// A regular file that is open for reading. What is read of it has to be of one piece: a file that is written to meanwhile is
/// not read on.
final class RegularFile: Sendable {
    let path: String
    let byteCount: Int
    private let descriptor: Int32
    /// When it was written to last, as it was opened.
    private let modified: timespec

    /// - Throws: `notReadable` where there is none, or something else than a file.
    init(path: String) throws(ModelError) {
        self.path = path
        // A pipe of that name must not hold us up.
        let opened = open(path.systemBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else { throw .notReadable("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        var status = stat()
        guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw .notReadable("\(path) is no regular file")
        }
        descriptor = opened
        byteCount = Int(status.st_size)
        modified = status.st_mtim
    }

    deinit {
        close(descriptor)
    }

    /// The bytes of a part of it.
    func bytes(_ range: Range<Int>) throws(ModelError) -> Data {
        var bytes = Data(count: range.count)
        do {
            try bytes.withUnsafeMutableBytes { try read(into: $0, offset: range.lowerBound) }
        } catch let error as ModelError {
            throw error
        } catch {
            throw .notReadable("\(path) cannot be read: \(error)")
        }
        return bytes
    }

    /// Fills `target` with the bytes from `offset` on.
    func read(into target: UnsafeMutableRawBufferPointer, offset: Int) throws(ModelError) {
        var done = 0
        while done < target.count, let base = target.baseAddress {
            let count = pread(descriptor, base + done, target.count - done, off_t(offset + done))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .notReadable("\(path) ended while it was read") }
            done += count
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mtim.tv_sec == modified.tv_sec,
            status.st_mtim.tv_nsec == modified.tv_nsec
        else { throw .notReadable("\(path) was written to while it was read") }
    }
}
