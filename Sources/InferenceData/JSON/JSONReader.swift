/// Reads JSON (RFC 8259).
struct JSONReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0
    private var depth = 0

    private static let largestDepth = 200

    /// - Throws: `damaged` with the place where it is no JSON.
    static func value(of bytes: [UInt8]) throws(DataError) -> JSONValue {
        try bytes.withUnsafeBufferPointer { buffer throws(DataError) in
            var reader = JSONReader(bytes: buffer)
            let value = try reader.value()
            reader.skipBlanks()
            guard reader.place == buffer.count else { throw reader.fault("something stands behind its end") }
            return value
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    private func fault(_ what: String) -> DataError { .damaged("This is no JSON: at byte \(place), \(what).") }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        skipBlanks()
        guard next == byte else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(DataError) {
        guard skip(byte) else { throw fault("\"\(Unicode.Scalar(byte))\" is missing") }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(DataError) -> JSONValue {
        let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[place...].starts(with: letters) else { throw fault("a value is missing") }
        place += letters.count
        return value
    }

    private mutating func value() throws(DataError) -> JSONValue {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try nested { reader throws(DataError) in try reader.object() }
        case UInt8(ascii: "["): return try nested { reader throws(DataError) in try reader.list() }
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested(
        _ body: (inout JSONReader) throws(DataError) -> JSONValue
    ) throws(DataError) -> JSONValue {
        depth += 1
        guard depth <= Self.largestDepth else { throw fault("it is nested more than \(Self.largestDepth) deep") }
        place += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func object() throws(DataError) -> JSONValue {
        var members: [JSONValue.Member] = []
        if skip(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw fault("a key is missing") }
            let key = try string()
            try expect(UInt8(ascii: ":"))
            members.append(JSONValue.Member(key: key, value: try value()))
        } while skip(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"))
        return .object(members)
    }

    private mutating func list() throws(DataError) -> JSONValue {
        var values: [JSONValue] = []
        if skip(UInt8(ascii: "]")) { return .array(values) }
        repeat { values.append(try value()) } while skip(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"))
        return .array(values)
    }

    private mutating func number() throws(DataError) -> Double {
        let start = place
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } ?? false }
        func digits(_ reader: inout JSONReader) -> Bool {
            guard isDigit(reader.next) else { return false }
            while isDigit(reader.next) { reader.place += 1 }
            return true
        }
        if next == UInt8(ascii: "-") { place += 1 }
        let leadingZero = next == UInt8(ascii: "0")
        let whole = place
        var isSound = digits(&self)
        if leadingZero, place > whole + 1 { isSound = false }
        if isSound, next == UInt8(ascii: ".") {
            place += 1
            isSound = digits(&self)
        }
        if isSound, next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            place += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { place += 1 }
            isSound = digits(&self)
        }
        guard isSound, let value = Double(String(decoding: bytes[start..<place], as: UTF8.self)) else {
            throw fault("a value is missing")
        }
        return value
    }

    private mutating func string() throws(DataError) -> String {
        place += 1
        var text: [UInt8] = []
        while true {
            let start = place
            while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { place += 1 }
            text.append(contentsOf: bytes[start..<place])
            guard let byte = next, byte >= 0x20 else { throw fault("a string does not end") }
            place += 1
            if byte == UInt8(ascii: "\"") { break }
            try escape(&text)
        }
        guard let string = String(validating: text, as: UTF8.self) else { throw fault("a string is not UTF-8") }
        return string
    }

    private mutating func escape(_ text: inout [UInt8]) throws(DataError) {
        guard let letter = next else { throw fault("a string does not end") }
        place += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try fourDigits()
            if (0xD800..<0xDC00).contains(code), bytes[place...].starts(with: "\\u".utf8) {
                let start = place
                place += 2
                let low = try fourDigits()
                if (0xDC00..<0xE000).contains(low) {
                    code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
                } else {
                    place = start
                }
            }
            // Half of a pair alone is no character.
            let scalar = Unicode.Scalar(code) ?? "\u{FFFD}"
            text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        default: throw fault("a string has an escape that does not exist")
        }
    }

    private mutating func fourDigits() throws(DataError) -> UInt32 {
        guard place + 4 <= bytes.count,
            bytes[place..<(place + 4)].allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
            let code = UInt32(String(decoding: bytes[place..<(place + 4)], as: UTF8.self), radix: 16)
        else { throw fault("an escape has not four hexadecimal digits") }
        place += 4
        return code
    }
}
