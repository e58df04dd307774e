/// The formats this build reads and writes, and the one place that chooses a codec.
package enum CodecRegistry {
    /// Tells the format from the first bytes of a file; nil when none matches.
    package static func detect(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? { nil }

    /// Reads the header and checks `limits`; decodes nothing yet. `bytes` must outlive the decoder.
    package static func decoder(
        for bytes: UnsafeRawBufferPointer, limits: DecodeLimits
    ) throws(CodecError) -> any ImageDecoder {
        throw CodecError(.unknownFormat, "not implemented")
    }

    package static func encoder(for request: EncodeRequest) throws(CodecError) -> any ImageEncoder {
        throw CodecError(.encode, "not implemented")
    }
}
