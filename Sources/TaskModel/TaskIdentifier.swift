/// The name a request is known by: the program's reverse-DNS name, a dot, and what the program calls the job.
package struct TaskIdentifier: Hashable, Codable, Sendable, CustomStringConvertible {
    /// Longest identifier in bytes.
    package static let maxBytes = 128

    package let rawValue: String

    package init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    package var description: String { rawValue }

    /// What is wrong with the shape of this identifier for a program, as one sentence; nil when it is well formed.
    ///
    /// Identifiers are case-sensitive and made of parts of letters, digits, `-` and `_` with one dot between them
    /// (rule 2).
    package func shapeProblem(program: String) -> String? {
        if rawValue.utf8.count > Self.maxBytes {
            return "The identifier is longer than \(Self.maxBytes) bytes."
        }
        guard rawValue.hasPrefix(program + ".") else {
            return "The identifier does not start with \"\(program).\"."
        }
        let parts = rawValue.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if parts.contains(where: \.isEmpty) {
            return "The identifier has an empty part between its dots."
        }
        if !parts.joined().allSatisfy(Self.isAllowed) {
            return "The identifier has characters other than letters, digits, \"-\", \"_\" and \".\"."
        }
        return nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }
}
