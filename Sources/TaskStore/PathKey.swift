/// A path as the system compares it: byte by byte.
///
/// Two names that look the same may be made of different bytes (composed and decomposed letters); `String` holds them
/// for equal, a Linux file system does not.
package struct PathKey: Hashable, Sendable, ExpressibleByStringLiteral {
    private let bytes: [UInt8]

    package init(_ path: String) {
        bytes = Array(path.utf8)
    }

    package init(stringLiteral path: String) {
        self.init(path)
    }
}
