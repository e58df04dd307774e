package import Foundation

/// Takes a reply apart as it comes: the status, and the body in either of the two forms that HTTP/1.1 has for one whose
/// connection ends with it (RFC 9112, section 6).
package struct HTTPReply {
    private enum Body {
        /// Until the connection ends.
        case whole
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case over
    }

    package private(set) var status: Int?
    private var pending = Data()
    private var body = Body.whole

    package init() {}

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
        let lines = text.components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        let isChunked = lines.dropFirst().contains {
            $0.lowercased().hasPrefix("transfer-encoding:") && $0.lowercased().contains("chunked")
        }
        body = isChunked ? .chunkSize : .whole
    }

    private mutating func takePart() -> Data? {
        switch body {
        case .whole:
            guard !pending.isEmpty else { return nil }
            defer { pending = Data() }
            return pending
        case .chunkSize:
            guard let end = pending.range(of: Self.lineEnd) else { return nil }
            let text = String(decoding: pending[..<end.lowerBound], as: UTF8.self)
            let size = Int(text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces), radix: 16) ?? 0
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
