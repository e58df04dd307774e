import CChecksum
import Foundation
import Glibc

/// Fast checksums that tell whether two files are the same; no protection against forgery.
package enum Checksum {
    /// XXH3-128 in 32 hexadecimal digits, as `xxhsum -H2` prints it.
    package static func xxh3(_ bytes: UnsafeRawBufferPointer) -> String {
        let digest = [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            bg_xxh3_128(bytes.baseAddress, bytes.count, buffer.baseAddress)
            count = 16
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Of a part of an open file; nil where that cannot be read, or ends before.
    package static func xxh3(_ range: Range<Int>, ofFile descriptor: Int32) -> String? {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 64)
        defer { bytes.deallocate() }
        var done = 0
        while done < bytes.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(range.lowerBound + done))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return nil }
            done += count
        }
        return xxh3(UnsafeRawBufferPointer(bytes))
    }

    /// Of a file's content; nil where it cannot be read.
    package static func xxh3(ofFile path: String) -> String? {
        // Mapped: it may be larger than memory.
        guard let data = try? Data(contentsOf: URL(filePath: path), options: .alwaysMapped) else { return nil }
        return data.withUnsafeBytes { xxh3($0) }
    }
}
