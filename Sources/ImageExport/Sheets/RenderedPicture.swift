import ImageCodecs

/// A finished picture in memory, as an encoder of 8 bits gets it.
package struct RenderedPicture: Sendable {
    package let width: Int
    package let height: Int
    /// The fourth byte of each pixel is straight alpha; otherwise it says nothing.
    package let hasAlpha: Bool
    /// R, G, B and the fourth byte, row-major.
    package let bytes: [UInt8]
    /// What was wrong with its input; empty for a sound one.
    package let damage: [String]
}

/// Takes rows of 8 bits as an encoder does, and keeps them.
final class RowCollector: ImageEncoder {
    var pulse: CodecPulse?
    private(set) var bytes: [UInt8] = []
    private let request: EncodeRequest

    init(_ request: EncodeRequest) {
        self.request = request
        bytes.reserveCapacity(4 * request.width * request.height)
    }

    var workingBytes: Int { 4 * request.width * request.height }

    func writeRows(_ rows: UnsafeRawPointer, strideBytes: Int, count: Int) throws(CodecError) {
        for row in 0..<count {
            bytes += UnsafeRawBufferPointer(start: rows + row * strideBytes, count: 4 * request.width)
        }
    }

    func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {}

    func picture(damage: [String]) -> RenderedPicture {
        RenderedPicture(
            width: request.width, height: request.height, hasAlpha: request.layout == .rgba8, bytes: bytes,
            damage: damage)
    }
}
