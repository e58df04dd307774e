import Foundation

/// A model file without the bytes of its large initialisers, which are then read to where they are needed: parsed with the
/// rest they would be in memory twice, and copied once more on the way.
///
/// Fields are numbered as in the standard's `onnx.proto`, and lie as the encoding of protocol buffers describes it
/// (https://protobuf.dev/programming-guides/encoding/).
struct ModelOutline {
    /// The message without those bytes.
    private(set) var message = Data()
    /// Where they lie in the file, by the place of the initialiser in the graph.
    private(set) var weights: [Int: Range<Int>] = [:]

    private let fewestBytes: Int

    /// Nil for a file whose fields do not lie as an encoder writes them: it is left to the parser as a whole.
    ///
    /// - Parameters:
    ///   - file: The model.
    ///   - fewestBytes: Of an initialiser that is left out.
    /// - Throws: `notReadable` where the file ends while it is read.
    init?(_ file: RegularFile, fewestBytes: Int) throws(ModelError) {
        self.fewestBytes = fewestBytes
        var window = FileWindow(file)
        guard let fields = try window.fields(0..<file.byteCount),
            fields.count(where: { $0.number == Self.graph }) == 1
        else { return nil }
        var pieces = Pieces()
        for field in fields {
            if field.number == Self.graph {
                guard let inner = try graph(field, &window) else { return nil }
                pieces.append(inner, in: Self.graph)
            } else {
                pieces.append(field.bytes)
            }
        }
        message.reserveCapacity(pieces.byteCount)
        for piece in pieces.list {
            switch piece {
            case .bytes(let bytes): message.append(contentsOf: bytes)
            case .range(let range): message.append(try file.bytes(range))
            }
        }
    }

    private static let (graph, initialiser, rawData) = (7, 5, 9)

    private mutating func graph(_ graph: FileWindow.Field, _ window: inout FileWindow) throws(ModelError) -> Pieces? {
        guard graph.isMessage, let fields = try window.fields(graph.content) else { return nil }
        var pieces = Pieces()
        var count = 0
        for field in fields {
            guard field.number == Self.initialiser else {
                pieces.append(field.bytes)
                continue
            }
            guard field.isMessage, let parts = try window.fields(field.content) else { return nil }
            let data = parts.filter { $0.number == Self.rawData }
            if data.count == 1, data[0].isMessage, data[0].content.count >= fewestBytes {
                weights[count] = data[0].content
                var rest = Pieces()
                for part in parts where part.number != Self.rawData { rest.append(part.bytes) }
                pieces.append(rest, in: Self.initialiser)
            } else {
                pieces.append(field.bytes)
            }
            count += 1
        }
        return pieces
    }
}

/// Parts of a message that is put together anew.
private struct Pieces {
    enum Piece {
        case bytes([UInt8])
        /// Of the file.
        case range(Range<Int>)
    }

    private(set) var list: [Piece] = []
    private(set) var byteCount = 0

    mutating func append(_ range: Range<Int>) {
        byteCount += range.count
        if case .range(let last)? = list.last, last.upperBound == range.lowerBound {
            list[list.count - 1] = .range(last.lowerBound..<range.upperBound)
        } else {
            list.append(.range(range))
        }
    }

    /// A field with a message.
    mutating func append(_ message: Pieces, in field: Int) {
        let head = Self.variable(field << 3 | 2) + Self.variable(message.byteCount)
        list.append(.bytes(head))
        byteCount += head.count
        for piece in message.list {
            switch piece {
            case .range(let range): append(range)
            case .bytes(let bytes):
                list.append(.bytes(bytes))
                byteCount += bytes.count
            }
        }
    }

    private static func variable(_ number: Int) -> [UInt8] {
        var (rest, bytes) = (number, [UInt8]())
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}

/// Reads the heads of fields, which lie far apart where there are weights between them.
private struct FileWindow {
    struct Field {
        var number: Int
        /// With its head.
        var bytes: Range<Int>
        /// Without.
        var content: Range<Int>
        /// Of a length that it says itself: a message, text or bytes.
        var isMessage: Bool
    }

    private let file: RegularFile
    private var bytes = Data()
    private var start = 0

    private static let byteCount = 1 << 14

    init(_ file: RegularFile) { self.file = file }

    /// The fields of a message; nil where they do not fill it.
    mutating func fields(_ message: Range<Int>) throws(ModelError) -> [Field]? {
        var fields: [Field] = []
        var place = message.lowerBound
        while place < message.upperBound {
            let first = place
            guard let tag = try number(&place, before: message.upperBound), tag >> 3 > 0 else { return nil }
            var content = place
            var length = 0
            switch tag & 7 {
            case 0:
                guard try number(&place, before: message.upperBound) != nil else { return nil }
                length = place - content
            case 1: length = 8
            case 5: length = 4
            case 2:
                guard let said = try number(&place, before: message.upperBound) else { return nil }
                (content, length) = (place, said)
            default: return nil
            }
            guard length <= message.upperBound - content else { return nil }
            place = content + length
            fields.append(
                Field(number: tag >> 3, bytes: first..<place, content: content..<place, isMessage: tag & 7 == 2))
        }
        return fields
    }

    /// A number of variable length, which `place` is moved behind; nil where it does not end, or leaves `Int`.
    private mutating func number(_ place: inout Int, before end: Int) throws(ModelError) -> Int? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) where place < end {
            let byte = try byte(at: place)
            place += 1
            if shift == 63, byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << UInt64(shift)
            // Negative numbers have ten bytes; as a tag or a length they are none.
            if byte & 0x80 == 0 { return Int(truncatingIfNeeded: value) >= 0 ? Int(value) : Int.max }
        }
        return nil
    }

    private mutating func byte(at place: Int) throws(ModelError) -> UInt8 {
        if place < start || place >= start + bytes.count {
            let end = min(place + Self.byteCount, file.byteCount)
            (bytes, start) = (try file.bytes(place..<end), place)
        }
        return bytes[place - start]
    }
}
