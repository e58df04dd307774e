import CChecksum
import Glibc
import SystemText

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

    /// Of a part of an open file; nil where the file ends before, or cannot be read.
    package static func xxh3(_ range: Range<Int>, ofFile descriptor: Int32) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, range.upperBound <= Int(status.st_size) else { return nil }
        guard !range.isEmpty else { return xxh3(UnsafeRawBufferPointer(start: nil, count: 0)) }
        // Mapped, which is possible from pages on: it may be larger than what there is of memory.
        let page = Int(getpagesize())
        let begin = range.lowerBound / page * page
        let bytes = mmap(nil, range.upperBound - begin, PROT_READ, MAP_PRIVATE, descriptor, off_t(begin))
        guard let bytes, bytes != MAP_FAILED else { return nil }
        defer { munmap(bytes, range.upperBound - begin) }
        return xxh3(UnsafeRawBufferPointer(start: bytes + (range.lowerBound - begin), count: range.count))
    }

    /// Of a file's content; nil where it cannot be read.
    package static func xxh3(ofFile path: String) -> String? {
        // Mapped: it may be larger than memory.
        SystemFile.withMappedBytes(path) { xxh3($0) }
    }
}
