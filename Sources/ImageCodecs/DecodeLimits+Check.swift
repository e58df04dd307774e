extension DecodeLimits {
    /// Checks what a header claims, before memory is reserved for it.
    func check(width: Int, height: Int, fileBytes: Int) throws(CodecError) {
        guard width > 0, height > 0 else { throw CodecError(.damaged, "The header says \(width) × \(height) pixels") }
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, pixels <= maxPixels else {
            throw CodecError(.limit, "\(width) × \(height) pixels are more than the limit of \(maxPixels)")
        }
        guard pixels / max(fileBytes, 1) <= maxPixelsPerByte else {
            throw CodecError(
                .limit,
                "\(width) × \(height) pixels from \(fileBytes) bytes expand beyond the limit of \(maxPixelsPerByte) pixels a byte"
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
            throw CodecError(.limit, "Decoding takes \(workingBytes) bytes of memory; the limit is \(maxWorkingBytes)")
        }
    }
}
