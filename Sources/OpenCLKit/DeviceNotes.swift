/// Small documents about devices, kept in the cache folder with a checksum.
package struct DeviceNotes: Sendable {
    private let folder: String?

    /// - Parameters:
    ///   - folder: Of caches; without one nothing is found, and nothing kept.
    ///   - subject: Names the documents, e.g. `tunings`.
    package init(folder: String?, subject: String) {
        self.folder = folder.map { "\($0)/\(subject)" }
    }

    /// The document; nil where there is none for this device, its driver and the version, or it is damaged.
    package func read(about device: DeviceInfo, version: String) -> [UInt8]? {
        guard let (path, key) = place(device, version), let file = BinaryFile.read(path) else { return nil }
        return BinaryFile.decode(file, key: key)
    }

    /// - Returns: Whether the file stands.
    package func write(_ bytes: [UInt8], about device: DeviceInfo, version: String) -> Bool {
        guard let folder, CacheFolder.makeWritable(folder), let (path, key) = place(device, version) else {
            return false
        }
        return BinaryFile.write(BinaryFile.encode(bytes, key: key), to: path)
    }

    private func place(_ device: DeviceInfo, _ version: String) -> (path: String, key: [UInt8])? {
        guard let folder else { return nil }
        let key = ProgramCache.key(source: version, options: "", device: device)
        return ("\(folder)/\(ProgramCache.name(of: key))", key)
    }
}
