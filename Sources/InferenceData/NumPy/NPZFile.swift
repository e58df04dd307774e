import CArchive
package import Inference

/// The arrays of a .npz file: a ZIP archive whose members are .npy files. Used by one thread.
package final class NPZFile {
    /// Names without `.npy`, in the order of the archive. Members that are no .npy file are left out.
    package let names: [String]
    private let archive: ArchiveHandle
    private let members: [String: (index: Int64, byteCount: Int)]

    /// The most members that are looked at.
    private static let largestCount: Int64 = 100_000
    /// Of the record that ends every ZIP archive (APPNOTE.TXT, section 4.3.16).
    private static let endRecordBytes = 22

    /// - Parameter file: Stays open for as long as this object lives.
    /// - Throws: `damaged` where it is no sound ZIP archive, `tooLarge` for one of very many members, `notReadable` where
    ///   libzip is missing.
    package init(_ file: OpenFile) throws(DataError) {
        // The library takes nothing at all for an archive without members.
        guard file.byteCount >= Self.endRecordBytes else { throw .damaged("It is too short for a .npz file.") }
        let archive = try ArchiveHandle(reading: file)
        var names: [String] = []
        var members: [String: (index: Int64, byteCount: Int)] = [:]
        let count = bg_archive_member_count(archive.pointer)
        guard count <= Self.largestCount else { throw .tooLarge("The archive has \(count) members.") }
        for index in 0..<count {
            var member = bg_archive_member()
            try archiveCall(orThrow: DataError.damaged) { reason, size in
                bg_archive_stat(archive.pointer, index, &member, reason, size) == 0
            }
            let name = String(cString: member.name)
            guard name.hasSuffix(".npy") else { continue }
            let short = String(name.dropLast(4))
            guard let byteCount = Int(exactly: member.byte_count), members[short] == nil else {
                throw .damaged("The archive has \"\(short)\" twice, or without a size.")
            }
            members[short] = (index, byteCount)
            names.append(short)
        }
        self.archive = archive
        self.names = names
        self.members = members
    }

    /// - Throws: `mismatch` for a name that is not there, and as ``NPYFile/init(_:)``.
    package func header(of name: String) throws(DataError) -> NPYHeader {
        try withMember(name) { member throws(DataError) in try member.header().header }
    }

    /// The whole array of that name.
    ///
    /// - Throws: as ``header(of:)``, `tooLarge` where it has more than `largestBytes`, `damaged` where it ends early or its
    ///   checksum is wrong.
    package func array(_ name: String, largestBytes: Int = 1 << 30) throws(DataError) -> Tensor {
        try withMember(name) { member throws(DataError) in
            let (header, begun) = try member.header()
            try checkLimit(header.dataByteCount, largestBytes)
            let tensor = try NPYElements.tensor(header, shape: header.shape) { bytes throws(DataError) in
                let first = begun.prefix(bytes.count)
                bytes.copyBytes(from: first)
                try member.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[first.count...]))
            }
            // The checksum is compared when the end is met.
            var end: [UInt8] = [0]
            let extra = try end.withMutableDataBytes { bytes throws(DataError) in try member.readSome(into: bytes) }
            guard extra == 0 else { throw .damaged("\"\(name)\" is longer than the archive says.") }
            return tensor
        }
    }

    private struct Member {
        let name: String
        let byteCount: Int
        let archive: OpaquePointer
        let handle: UnsafeMutableRawPointer

        /// The header, and what was read behind it.
        func header() throws(DataError) -> (header: NPYHeader, begun: ArraySlice<UInt8>) {
            var start = [UInt8](repeating: 0, count: min(byteCount, NPYHeader.largestByteCount))
            let header = try start.withMutableDataBytes { bytes throws(DataError) in
                try read(into: bytes)
                return try NPYHeader(parsing: UnsafeRawBufferPointer(bytes))
            }
            try header.check(fileBytes: byteCount)
            return (header, start[header.byteCount...])
        }

        func read(into target: UnsafeMutableRawBufferPointer) throws(DataError) {
            guard try readSome(into: target) == target.count else { throw .damaged("\"\(name)\" ends early.") }
        }

        func readSome(into target: UnsafeMutableRawBufferPointer) throws(DataError) -> Int {
            var done = 0
            while done < target.count, let base = target.baseAddress {
                var count: Int64 = 0
                try archiveCall(orThrow: DataError.damaged) { reason, size in
                    count = bg_archive_read(archive, handle, base + done, UInt64(target.count - done), reason, size)
                    return count >= 0
                }
                if count == 0 { break }
                done += Int(count)
            }
            return done
        }
    }

    private func withMember<Result>(
        _ name: String, _ body: (Member) throws(DataError) -> Result
    ) throws(DataError) -> Result {
        guard let place = members[name] else {
            throw .mismatch("The archive has no \"\(name)\"; it has \(names.prefix(20).joined(separator: ", ")).")
        }
        var handle: UnsafeMutableRawPointer?
        try archiveCall(orThrow: DataError.damaged) { reason, size in
            handle = bg_archive_open_member(archive.pointer, place.index, reason, size)
            return handle != nil
        }
        guard let handle else { preconditionFailure("a member that opened has no handle") }
        defer { bg_archive_close_member(archive.pointer, handle) }
        return try body(Member(name: name, byteCount: place.byteCount, archive: archive.pointer, handle: handle))
    }
}
