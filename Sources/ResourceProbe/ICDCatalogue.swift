/// The drivers registered with the loader, read from files alone: no driver is loaded.
package struct ICDCatalogue: Equatable {
    package struct Entry: Equatable {
        /// nil when the environment names a library directly.
        package var file: String?
        package var library: String
        package var problem: Cause?
    }

    package var entries: [Entry]

    /// Where the loader looks, in its own order of preference (ocl-icd 2.3): `OCL_ICD_VENDORS` as a folder, as one `.icd`
    /// file or as the name of a library; `OPENCL_VENDOR_PATH` as a folder; `/etc/OpenCL/vendors`.
    package static func read(environment: [String: String], root: String) -> ICDCatalogue {
        let standard = "\(root)/etc/OpenCL/vendors"
        if let choice = environment["OCL_ICD_VENDORS"], !choice.isEmpty {
            if SmallFile.isFolder(choice) { return ICDCatalogue(folder: choice) }
            guard choice.hasSuffix(".icd") else {
                return ICDCatalogue(entries: [Entry(file: nil, library: choice, problem: nil)])
            }
            return ICDCatalogue(entries: [entry(choice.contains("/") ? choice : "\(standard)/\(choice)")])
        }
        if let folder = environment["OPENCL_VENDOR_PATH"], !folder.isEmpty { return ICDCatalogue(folder: folder) }
        return ICDCatalogue(folder: standard)
    }

    private init(entries: [Entry]) {
        self.entries = entries
    }

    private init(folder: String) {
        let folder = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        let files = (SmallFile.names(in: folder) ?? []).filter { $0.hasSuffix(".icd") }
        var entries: [Entry] = []
        for entry in files.map({ ICDCatalogue.entry("\(folder)/\($0)") }) {
            // Two files may name one library; the loader takes it once.
            if entry.problem == nil && entries.contains(where: { $0.library == entry.library }) { continue }
            entries.append(entry)
        }
        self.entries = entries
    }

    /// The loader takes the first line as it stands, so whatever else is on it makes the driver vanish without a word.
    private static func entry(_ file: String) -> Entry {
        func unreadable(_ reason: String) -> Entry {
            Entry(
                file: file, library: "",
                problem: Cause(
                    .icdFileUnreadable, "The driver file \(file) \(reason).",
                    fix: "Put the name of the driver's library, alone, on its first line, or remove the file."))
        }
        guard let bytes = SmallFile.read(file) else { return unreadable("cannot be read") }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.isEmpty { return unreadable("is empty or begins with an empty line") }
        if line.last == UInt8(ascii: "\r") {
            return unreadable("has Windows line ends, which the loader does not take")
        }
        guard let name = String(validating: line, as: UTF8.self), !name.contains(where: \.isNewline),
            line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return unreadable("is not a text file") }
        if name.hasPrefix("#") { return unreadable("begins with a comment, which the loader takes for a name") }
        return Entry(file: file, library: name, problem: nil)
    }
}
