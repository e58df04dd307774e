import Glibc

/// Names, arguments and variables of the system are bytes, and may be no UTF-8. In a string, each byte that is none stands
/// as a character of its own: U+10FE80 to U+10FEFF, in the private use area, for the bytes 0x80 to 0xFF. A name in which
/// such a character occurs for real has its four bytes replaced like that, so that every string leads back to the bytes
/// it was made of.
///
/// Strings are made by ``Swift/String/init(system:)`` where bytes come in, and become bytes again by
/// ``Swift/String/systemBytes`` where a path is handed to a system call; whatever lies between keeps them as text.
extension String {
    /// A text of the system.
    package init(system bytes: UnsafeBufferPointer<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self), !text.holdsForeignBytes {
            self = text
        } else {
            self = String(decoding: ForeignBytes.escaped(bytes), as: UTF8.self)
        }
    }

    /// A text of the system, up to its zero.
    package init(system text: UnsafePointer<CChar>) {
        let count = strlen(text)
        self = text.withMemoryRebound(to: UInt8.self, capacity: count) {
            String(system: UnsafeBufferPointer(start: $0, count: count))
        }
    }

    /// A text of the system.
    package init(system bytes: [UInt8]) {
        self = bytes.withUnsafeBufferPointer { String(system: $0) }
    }

    /// The bytes that a system call is handed, with a zero at their end.
    package var systemBytes: [CChar] {
        var bytes: [CChar] = []
        bytes.reserveCapacity(utf8.count + 1)
        ForeignBytes.forEach(of: self) { bytes.append(CChar(bitPattern: $0)) }
        bytes.append(0)
        return bytes
    }

    /// How many bytes the system sees, without the zero.
    package var systemByteCount: Int {
        var count = 0
        ForeignBytes.forEach(of: self) { _ in count += 1 }
        return count
    }

    /// Whether there are bytes in it that are not UTF-8.
    package var holdsForeignBytes: Bool {
        var text = self
        return text.withUTF8 { ForeignBytes.first(in: $0, from: 0) != nil }
    }

    /// The same for a person: a byte that is not UTF-8 is shown as `\xE4`.
    package var shown: String {
        guard holdsForeignBytes else { return self }
        var view = UnicodeScalarView()
        for scalar in unicodeScalars {
            guard let byte = ForeignBytes.byte(scalar) else {
                view.append(scalar)
                continue
            }
            view.append(contentsOf: ("\\x" + String(byte, radix: 16, uppercase: true)).unicodeScalars)
        }
        return String(view)
    }
}

/// How bytes that are not UTF-8 are written in strings.
package enum ForeignBytes {
    /// What is added to a byte.
    private static let base: UInt32 = 0x10FE00

    /// The byte that a character stands for; nil for a character that stands for itself.
    package static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
        (base + 0x80...base + 0xFF).contains(scalar.value) ? UInt8(scalar.value - base) : nil
    }

    /// The byte that a character at a place of UTF-8 stands for: one of U+10FE80 to U+10FEFF, in four bytes.
    fileprivate static func byte(_ text: UnsafeBufferPointer<UInt8>, at place: Int) -> UInt8? {
        guard text[place] == 0xF4, place + 3 < text.count, text[place + 1] == 0x8F, text[place + 2] & 0xFE == 0xBA
        else { return nil }
        return 0x80 | (text[place + 2] & 1) << 6 | text[place + 3] & 0x3F
    }

    fileprivate static func first(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var place = start
        while place < text.count {
            if text[place] == 0xF4, byte(text, at: place) != nil { return place }
            place += 1
        }
        return nil
    }

    fileprivate static func forEach(of text: String, _ body: (UInt8) -> Void) {
        var text = text
        text.withUTF8 { text in
            var place = 0
            while place < text.count {
                if let byte = byte(text, at: place) {
                    body(byte)
                    place += 4
                } else {
                    body(text[place])
                    place += 1
                }
            }
        }
    }

    /// UTF-8 in which bytes that are none have become characters.
    fileprivate static func escaped(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 64)
        var place = 0
        while place < bytes.count {
            let length = lengthOfCharacter(bytes, at: place)
            if length > 0, byte(bytes, at: place) == nil {
                result.append(contentsOf: bytes[place..<place + length])
                place += length
            } else {
                let byte = bytes[place]
                result.append(contentsOf: [0xF4, 0x8F, 0xBA | byte >> 6 & 1, 0x80 | byte & 0x3F])
                place += 1
            }
        }
        return result
    }

    /// Bytes of the well-formed character at a place; 0 where there is none (The Unicode Standard, table 3-7).
    private static func lengthOfCharacter(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> Int {
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch bytes[place] {
            case 0x00...0x7F: (1, 0x80...0xBF)
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0x80...0xBF)
            }
        guard length > 1 else { return length }
        guard place + length <= bytes.count, second.contains(bytes[place + 1]) else { return 0 }
        return bytes[(place + 2)..<(place + length)].allSatisfy { $0 & 0xC0 == 0x80 } ? length : 0
    }
}
