/// Values as bytes for another process of the same program, in a fraction of the time that text takes.
///
/// A number is its bytes in this machine's order, a string its UTF-8, an array its elements, and anything else its parts,
/// each after its name. Elements and parts have their length before them.
enum CompactCoding {
    typealias Length = UInt32
    /// In place of the length of what is nil.
    fileprivate static let absent = Length.max

    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let output = CompactOutput()
        try value.encode(to: CompactEncoder(output: output))
        return output.bytes
    }

    /// - Throws: `DecodingError` for bytes that hold no such value.
    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: UnsafeRawBufferPointer) throws -> Value {
        try Value(from: CompactDecoder(content: bytes))
    }
}

// MARK: - Encoding

private final class CompactOutput {
    private(set) var bytes: [UInt8] = []
    private var endsWithNil = false

    init() { bytes.reserveCapacity(1024) }

    func append(bitsOf value: some Any) {
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }

    func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    func appendNil() { endsWithNil = true }

    /// - Returns: Where its length is.
    func beginPart(_ name: String? = nil) -> Int {
        if let name {
            append(bitsOf: CompactCoding.Length(name.utf8.count))
            append(name)
        }
        append(bitsOf: CompactCoding.Length(0))
        return bytes.count - MemoryLayout<CompactCoding.Length>.size
    }

    func endPart(_ place: Int) {
        let size = bytes.count - place - MemoryLayout<CompactCoding.Length>.size
        let length = endsWithNil ? CompactCoding.absent : CompactCoding.Length(size)
        endsWithNil = false
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: place, as: CompactCoding.Length.self) }
    }
}

/// Appends one value, or its parts one after the other.
private struct CompactEncoder: Encoder, SingleValueEncodingContainer {
    let output: CompactOutput
    /// The parts that grow with each value: nobody says when a nested container is complete.
    var growing: [Int] = []
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(CompactNamedOutput(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { CompactElementsOutput(encoder: self) }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encode(_ text: String) {
        output.append(text)
        grow()
    }

    func encode(_ flag: Bool) { encode(bitsOf: UInt8(flag ? 1 : 0)) }
    func encode(_ number: Double) { encode(bitsOf: number) }
    func encode(_ number: Float) { encode(bitsOf: number) }
    func encode(_ number: some FixedWidthInteger & Encodable) { encode(bitsOf: number) }

    func encode(_ value: some Encodable) throws {
        try value.encode(to: CompactEncoder(output: output))
        grow()
    }

    func encodeNil() {
        output.appendNil()
        grow()
    }

    private func encode(bitsOf value: some Any) {
        output.append(bitsOf: value)
        grow()
    }

    func writePart(named name: String? = nil, _ value: some Encodable) throws {
        let place = output.beginPart(name)
        try value.encode(to: CompactEncoder(output: output))
        output.endPart(place)
        grow()
    }

    func writeNil(_ name: String? = nil) {
        let place = output.beginPart(name)
        output.appendNil()
        output.endPart(place)
        grow()
    }

    /// For a part whose own parts come one by one.
    func nested(_ name: String? = nil) -> CompactEncoder {
        let place = output.beginPart(name)
        grow()
        return CompactEncoder(output: output, growing: growing + [place])
    }

    private func grow() { for place in growing { output.endPart(place) } }
}

private struct CompactNamedOutput<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: CompactEncoder
    var codingPath: [any CodingKey] { [] }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try encoder.writePart(named: key.stringValue, value)
    }
    func encodeNil(forKey key: Key) { encoder.writeNil(key.stringValue) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        encoder.nested(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.nested(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.nested("super") }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.nested(key.stringValue) }
}

private struct CompactElementsOutput: UnkeyedEncodingContainer {
    let encoder: CompactEncoder
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(encoder: CompactEncoder) { self.encoder = encoder }

    mutating func encode(_ value: some Encodable) throws {
        count += 1
        try encoder.writePart(value)
    }

    mutating func encodeNil() {
        count += 1
        encoder.writeNil()
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        count += 1
        return encoder.nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        count += 1
        return encoder.nested().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        count += 1
        return encoder.nested()
    }
}

// MARK: - Decoding

/// Reads parts in their order. The other side may send anything.
private struct CompactInput {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ content: UnsafeRawBufferPointer) { rest = content[...] }

    var isAtEnd: Bool { rest.isEmpty }

    /// - Returns: What is to be decoded; nil for nil.
    mutating func nextPart() throws -> CompactDecoder {
        let length = try nextLength()
        guard length != CompactCoding.absent else { return CompactDecoder(content: nil) }
        return CompactDecoder(content: try take(Int(length)))
    }

    /// - Returns: nil at the end.
    mutating func nextNamedPart() throws -> (name: UnsafeRawBufferPointer, part: CompactDecoder)? {
        guard !isAtEnd else { return nil }
        return (try take(Int(try nextLength())), try nextPart())
    }

    private mutating func nextLength() throws -> CompactCoding.Length {
        try take(MemoryLayout<CompactCoding.Length>.size).loadUnaligned(as: CompactCoding.Length.self)
    }

    private mutating func take(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard count <= rest.count else { throw CompactDecoder.damage("a part is cut off") }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
}

private struct CompactDecoder: Decoder, SingleValueDecodingContainer {
    /// The bytes of the value; nil for nil.
    let content: UnsafeRawBufferPointer?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func damage(_ reason: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: reason))
    }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(CompactNamedInput(try bytes()))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { CompactElementsInput(try bytes()) }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { content == nil }

    func decode(_ type: String.Type) throws -> String { String(decoding: try bytes(), as: UTF8.self) }
    func decode(_ type: Bool.Type) throws -> Bool { try decode(UInt8.self) != 0 }
    func decode(_ type: Double.Type) throws -> Double { Double(bitPattern: try decode(UInt64.self)) }
    func decode(_ type: Float.Type) throws -> Float { Float(bitPattern: try decode(UInt32.self)) }

    func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
        let bytes = try bytes()
        guard bytes.count == MemoryLayout<Number>.size else { throw Self.damage("a number of another size") }
        var number = Number.zero
        withUnsafeMutableBytes(of: &number) { $0.copyMemory(from: bytes) }
        return number
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }

    private func bytes() throws -> UnsafeRawBufferPointer {
        guard let content else { throw Self.damage("nil where a value belongs") }
        return content
    }
}

private struct CompactNamedInput<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let content: UnsafeRawBufferPointer
    /// From the part that was found last on, which is asked for again or followed by the next one: parts are read in the
    /// order in which they were written.
    private let latest: CompactCursor
    var codingPath: [any CodingKey] { [] }

    init(_ content: UnsafeRawBufferPointer) {
        self.content = content
        latest = CompactCursor(CompactInput(content))
    }

    var allKeys: [Key] {
        var keys: [Key] = []
        var input = CompactInput(content)
        while let (name, _) = try? input.nextNamedPart() {
            if let key = Key(stringValue: String(decoding: name, as: UTF8.self)) { keys.append(key) }
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { (try? part(key)) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try part(key).decodeNil() }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try part(key).decode(type) }

    func nestedContainer<Nested>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try part(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try part(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try part(named: "super") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try part(key) }

    private func part(_ key: Key) throws -> CompactDecoder { try part(named: key.stringValue) }

    private func part(named name: String) throws -> CompactDecoder {
        var name = name
        return try name.withUTF8 { wanted in
            guard let part = try find(wanted, from: latest.input) ?? find(wanted, from: CompactInput(content)) else {
                throw CompactDecoder.damage("a part is missing")
            }
            return part
        }
    }

    private func find(_ wanted: UnsafeBufferPointer<UInt8>, from start: CompactInput) throws -> CompactDecoder? {
        var (here, input) = (start, start)
        while let (name, part) = try input.nextNamedPart() {
            if name.count == wanted.count, name.elementsEqual(wanted) {
                latest.input = here
                return part
            }
            here = input
        }
        return nil
    }
}

/// A place among parts that a container moves on, which cannot change itself.
private final class CompactCursor {
    var input: CompactInput

    init(_ input: CompactInput) { self.input = input }
}

private struct CompactElementsInput: UnkeyedDecodingContainer {
    private var input: CompactInput
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    var isAtEnd: Bool { input.isAtEnd }

    init(_ content: UnsafeRawBufferPointer) { input = CompactInput(content) }

    mutating func decodeNil() throws -> Bool {
        var ahead = input
        guard try ahead.nextPart().decodeNil() else { return false }
        input = ahead
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }

    private mutating func next() throws -> CompactDecoder {
        defer { currentIndex += 1 }
        return try input.nextPart()
    }
}
