package import Foundation

/// Takes a reply apart as it comes: the status, and the body in the forms that HTTP/1.1 has for one whose connection ends
/// with it (RFC 9112, section 6).
package struct HTTPReply {
    private enum Body {
        /// So many bytes, or until the connection ends.
        case whole(left: Int?)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case over
    }

    package private(set) var status: Int?
    private var pending = Data()
    private var body = Body.whole(left: nil)

    package init() {}

    /// Whether a connection that ends now has brought all of it.
    package var isWhole: Bool {
        if case .whole(left: nil) = body { return status != nil }
        return hasEnded
    }

    /// Whether all of it has come, so that nobody has to wait for the end of the connection.
    package var hasEnded: Bool {
        guard status != nil else { return false }
        return switch body {
        case .whole(let left): left == 0
        case .over: true
        case .chunkSize, .chunk, .chunkEnd: false
        }
    }

    private static let lineEnd = Data("\r\n".utf8)
    private static let headEnd = Data("\r\n\r\n".utf8)

    /// - Returns: What there is of the body in these bytes.
    package mutating func take(_ bytes: Data) -> Data {
        pending += bytes
        if status == nil {
            guard let end = pending.range(of: Self.headEnd) else { return Data() }
            readHead(String(decoding: pending[..<end.lowerBound], as: UTF8.self))
            pending = Data(pending[end.upperBound...])
        }
        var found = Data()
        while let part = takePart() { found += part }
        return found
    }

    private mutating func readHead(_ text: String) {
        // Both bytes of a line's end are one character.
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ")
        status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        let fields = lines.dropFirst().map { $0.lowercased().split(separator: ":", maxSplits: 1) }
        func field(_ name: String) -> Substring? { fields.first { $0.count == 2 && $0[0] == name }?[1] }
        let isChunked = field("transfer-encoding")?.contains("chunked") == true
        let length = field("content-length").flatMap { Int(Self.bare($0)) }
        body = isChunked ? .chunkSize : .whole(left: length)
    }

    /// Without the white space around it (RFC 9110, section 5.6.3). Foundation's way takes a command half a millisecond.
    private static func bare(_ text: Substring) -> Substring {
        func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
        let end = text.lastIndex { !isSpace($0) }.map { text.index(after: $0) } ?? text.startIndex
        return text[..<end].drop(while: isSpace)
    }

    private mutating func takePart() -> Data? {
        switch body {
        case .whole(let left):
            guard !pending.isEmpty else { return nil }
            let part = pending
            pending = Data()
            body = .whole(left: left.map { $0 - part.count })
            return part
        case .chunkSize:
            guard let end = pending.range(of: Self.lineEnd) else { return nil }
            let text = String(decoding: pending[..<end.lowerBound], as: UTF8.self)
            let size = Int(Self.bare(text.prefix { $0 != ";" }), radix: 16) ?? 0
            pending = Data(pending[end.upperBound...])
            body = size == 0 ? .over : .chunk(left: size)
            return Data()
        case .chunk(let left):
            guard !pending.isEmpty else { return nil }
            let part = Data(pending.prefix(left))
            pending = Data(pending.dropFirst(left))
            body = part.count == left ? .chunkEnd : .chunk(left: left - part.count)
            return part
        case .chunkEnd:
            guard pending.count >= 2 else { return nil }
            pending = Data(pending.dropFirst(2))
            body = .chunkSize
            return Data()
        case .over: return nil
        }
    }
}
