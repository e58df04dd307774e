extension DecodeLimits {
    /// Flat pictures up to this size are let through however few bytes they take.
    private static let harmlessPixels = 1 << 22

    /// Checks what a header claims, before memory is reserved for it.
    ///
    /// `bitsPerPixel` is 1 for bilevel pictures, whose blank pages compress far better than others.
    func check(width: Int, height: Int, bitsPerPixel: Int = 8, fileBytes: Int) throws(CodecError) {
        guard width > 0, height > 0 else { throw CodecError(.damaged, "The header says \(width) × \(height) pixels") }
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, pixels <= maxPixels else {
            throw CodecError(.limit, "\(width) × \(height) pixels are more than the limit of \(maxPixels)")
        }
        let isSmall = pixels <= DecodeLimits.harmlessPixels
        let (bits, isBeyond) = pixels.multipliedReportingOverflow(by: bitsPerPixel)
        let perByte = isBeyond ? .max : bits / 8 / max(fileBytes, 1)
        guard isSmall || perByte <= maxPixelsPerByte else {
            throw CodecError(
                .limit, "\(pixels) pixels from \(fileBytes) bytes are more than the limit of \(maxPixelsPerByte) a byte"
            )
        }
    }

    func check(fileBytes: Int) throws(CodecError) {
        guard fileBytes <= maxFileBytes else {
            throw CodecError(.limit, "\(fileBytes) bytes are more than the limit of \(maxFileBytes)")
        }
    }

    /// Checks what decoding at its least hungry scale would take.
    func check(workingBytes: Int) throws(CodecError) {
        guard workingBytes <= maxWorkingBytes else {
            throw CodecError(
                .outOfMemory, "Decoding takes \(workingBytes) bytes of memory; the limit is \(maxWorkingBytes)")
        }
    }
}
