import CArchive
package import Inference

/// Writes tensors as a .npz file of stored (not compressed) members; the same tensors give the same bytes.
package enum NPZWriter {
    /// Writes the file from position 0 of a descriptor on, and ends it there.
    ///
    /// - Throws: as ``NPYAssembly``, `mismatch` for a name that is empty or given twice or no tensor at all, `notReadable`
    ///   where libzip is missing, `notWritable`.
    package static func write(_ tensors: [(name: String, tensor: Tensor)], to descriptor: Int32) throws(DataError) {
        guard !tensors.isEmpty else { throw .mismatch("An archive without arrays was asked for.") }
        var seen: Set<String> = []
        for (name, _) in tensors {
            guard !name.isEmpty, !name.contains("\0"), seen.insert(name).inserted else {
                throw .mismatch("\"\(name)\" cannot be the name of an array here, or is given twice.")
            }
        }
        // The library reads members when it writes the archive, so their bytes stay until then.
        var held: [UnsafeMutableRawBufferPointer] = []
        defer { for bytes in held { bytes.deallocate() } }
        try endFile(descriptor, at: 0)
        let archive = try ArchiveHandle(writingTo: descriptor)
        for (name, tensor) in tensors {
            let file = try NPYAssembly.bytes(of: tensor)
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: file.count, alignment: 64)
            bytes.copyBytes(from: file)
            held.append(bytes)
            try archiveCall(orThrow: DataError.notWritable) { reason, size in
                bg_archive_add(archive.pointer, "\(name).npy", bytes.baseAddress, UInt64(bytes.count), reason, size)
                    == 0
            }
        }
        try archiveCall(orThrow: DataError.notWritable) { reason, size in
            bg_archive_finish(archive.pointer, reason, size) == 0
        }
    }
}
