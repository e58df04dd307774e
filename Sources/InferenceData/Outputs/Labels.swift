/// Names of classes, one in each line of a file.
package struct Labels: Hashable, Sendable {
    package var names: [String]

    package init(_ names: [String]) {
        self.names = names
    }

    /// - Throws: `notReadable`, `tooLarge`, `damaged` where it is not UTF-8.
    package init(_ file: OpenFile) throws(DataError) { throw .unsupported(["labels"]) }

    /// Nil where there are fewer names than classes.
    package subscript(_ index: Int) -> String? { names.indices.contains(index) ? names[index] : nil }
}
