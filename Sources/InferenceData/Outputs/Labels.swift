/// Names of classes, one in each line of a file.
package struct Labels: Hashable, Sendable {
    package var names: [String]

    package init(_ names: [String]) {
        self.names = names
    }

    /// - Throws: `notReadable`, `tooLarge` for a file above a megabyte, `damaged` where it is not UTF-8.
    package init(_ file: OpenFile) throws(DataError) {
        guard file.byteCount <= 1 << 20 else { throw .tooLarge("A file of labels has \(file.byteCount) bytes.") }
        let source = try TextSource(file, format: .lines)
        var names: [String] = []
        for index in 0..<source.count { names.append(try source.text(at: index)) }
        // An empty line at the end names nothing.
        while names.last?.isEmpty == true { names.removeLast() }
        self.names = names
    }

    /// - Throws: `mismatch` where there are fewer names than classes.
    func check(classCount: Int) throws(DataError) {
        guard names.count >= classCount else {
            throw .mismatch("There are \(names.count) labels for \(classCount) classes.")
        }
    }

    /// Nil for a class without a name.
    package subscript(_ index: Int) -> String? { names.indices.contains(index) ? names[index] : nil }
}
