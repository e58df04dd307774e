import ImageCodecs

/// What came of decoding a file.
struct Decoded {
    var picture: Picture
    var header: ImageHeader
    var damage: [String]
}

/// Decodes in bands of `band` rows.
func decode(
    _ file: [UInt8], scaleEighths: Int = 8, band: Int = 16, limits: DecodeLimits = DecodeLimits()
) throws(CodecError) -> Decoded {
    // A copy of exactly the file's size, so that a read past its end is seen by the address sanitizer.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: file.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: file)
    let decoder = try CodecRegistry.decoder(for: UnsafeRawBufferPointer(copy), limits: limits)
    let header = decoder.header
    let size = try decoder.start(scaleEighths: scaleEighths)
    let stride = size.width * header.layout.bytesPerPixel
    let rows = UnsafeMutableRawBufferPointer.allocate(byteCount: stride * size.height, alignment: 16)
    defer { rows.deallocate() }
    // Whatever the decoder leaves out shows.
    rows.initializeMemory(as: UInt8.self, repeating: 0xAA)
    guard let start = rows.baseAddress else { throw CodecError(.damaged, "no rows") }
    var done = 0
    while true {
        let room = min(band, size.height - done)
        let read = try decoder.readRows(
            into: start + min(done, size.height - 1) * stride, strideBytes: stride, count: room)
        if read == 0 { break }
        done += read
    }
    let picture = Picture(
        width: size.width, height: done, layout: header.layout, bytes: Array(rows.prefix(done * stride)))
    return Decoded(picture: picture, header: header, damage: decoder.damage)
}

/// Encodes in bands of `band` rows; `adjust` changes the request.
func encoded(
    _ picture: Picture, as format: ImageFormat, band: Int = 16, adjust: (inout EncodeRequest) -> Void = { _ in }
) throws -> [UInt8] {
    var request = EncodeRequest(format: format, width: picture.width, height: picture.height, layout: picture.layout)
    adjust(&request)
    let encoder = try CodecRegistry.encoder(for: request)
    let stride = picture.width * picture.layout.bytesPerPixel
    try picture.bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        for first in Swift.stride(from: 0, to: picture.height, by: band) {
            try encoder.writeRows(
                start + first * stride, strideBytes: stride, count: min(band, picture.height - first))
        }
    }
    var file: [UInt8] = []
    try encoder.finish { file = Array($0) }
    return file
}
