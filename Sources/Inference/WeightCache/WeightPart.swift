import Crypto
import OneDNNKit

/// What one part of an entry is: an initialiser of the model's file, laid out for a primitive. The same part of the same
/// model is always the same bytes.
struct WeightPart: Hashable, Sendable {
    let digest: Digest

    /// - Parameters:
    ///   - name: Of the initialiser.
    ///   - form: How its elements are taken.
    ///   - target: How they are to lie.
    ///   - engine: What lays them out.
    init(_ name: String, _ form: Form, _ target: MemoryDescriptor, on engine: CPUEngine) {
        digest = Digest(of: [
            name, "\(form.offset)", PackedWeights.key(form.descriptor, on: engine),
            PackedWeights.key(target, on: engine),
        ])
    }
}

/// A SHA-256: what a stranger's file cannot be made to share with another.
package struct Digest: Hashable, Sendable {
    static let byteCount = SHA256.byteCount

    /// As many as ``byteCount``.
    let bytes: [UInt8]

    init(_ bytes: UnsafeRawBufferPointer) {
        var function = SHA256()
        function.update(bufferPointer: bytes)
        self.bytes = Array(function.finalize())
    }

    /// Of several texts: each goes in with its length, so that no two lists look the same.
    init(of texts: [String]) {
        let bytes = texts.flatMap { Array("\($0.utf8.count):".utf8) + Array($0.utf8) }
        self = bytes.withUnsafeBytes { Digest($0) }
    }

    /// - Returns: nil for anything but the digits of one.
    package init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard text.utf8.count == 2 * Self.byteCount, digits.count == 2 * Self.byteCount else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
