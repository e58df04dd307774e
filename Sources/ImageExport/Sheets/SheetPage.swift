package import ChunkedCompute
package import ImageCodecs

/// Draws one page, a row of tiles at a time: no more than such a row, its encoder and the finished file are in memory.
///
/// The file has no name before ``commit(mayReplace:)``, so that pages appear together, or not at all.
package final class SheetPage {
    package let layout: SheetLayout
    private let path: String
    private let encoder: any ImageEncoder
    private let captions: Captions?
    private let file: PendingFile
    private let band = Scratch()
    private var rowsDrawn = 0

    /// Tells a page by its creator.
    ///
    /// - Parameter creator: Without characters that XML has a meaning for.
    /// - Returns: What the file of such a page holds, in every format byte for byte: a part of its XMP.
    package static func mark(of creator: String) -> String { "xmp:CreatorTool=\"\(creator)\"" }

    private static func xmp(of creator: String) -> [UInt8] {
        Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" \(mark(of: creator))/>\
            </rdf:RDF></x:xmpmeta>
            """.utf8)
    }

    /// - Parameters:
    ///   - layout: What the page is like.
    ///   - settings: How it is encoded: format, quality and the like; its colours are those of the tiles.
    ///   - captions: Sets the lines under tiles; nil for none.
    ///   - path: Where the file will stand.
    ///   - creator: What its metadata name as its maker, see ``mark(of:)``; nil for none.
    /// - Throws: `CodecError` where the format cannot hold such a page, ``ExportFailure`` where no file can be made there.
    package init(
        layout: SheetLayout, settings: OutputSettings, captions: Captions?, path: String, creator: String? = nil
    ) throws {
        self.layout = layout
        self.captions = captions
        self.path = path
        let format = settings.format ?? .jpeg
        var metadata = ImageMetadata()
        if settings.colorSpace == .displayP3 { metadata.icc = BuiltInProfile.displayP3.bytes }
        metadata.xmp = creator.map { Self.xmp(of: $0) }
        let request = EncodeRequest(
            format: format, width: layout.width, height: layout.height, layout: .rgbx8, isOpaque: true,
            quality: settings.quality ?? format.defaultQuality ?? 100, lossless: settings.lossless,
            optimize: settings.optimize, progressive: settings.progressive, fullChroma: settings.fullChroma,
            metadata: metadata)
        var plain = settings
        plain.border = nil
        encoder = try EncoderChain(request, plain, marks: []).head
        file = try PendingFile(path: path, in: nil)
    }

    private var stride: Int { 4 * layout.width }

    /// Draws the next row of tiles.
    ///
    /// - Parameter tiles: From the left; nil leaves its place empty.
    /// - Throws: `CodecError` where the encoder fails.
    package func draw(_ tiles: [SheetTile?]) throws(CodecError) {
        precondition(rowsDrawn < layout.rows && tiles.count <= layout.columns, "more tiles than the page has places")
        let base = band.bytes(stride * layout.rowHeight)
        if rowsDrawn == 0 { try fill(base, rows: layout.gap) }
        paint(base, rows: layout.rowHeight)
        for case (let column, let tile?) in tiles.enumerated() { put(tile, column, onto: base) }
        try encoder.writeRows(base, strideBytes: stride, count: layout.rowHeight)
        rowsDrawn += 1
    }

    /// Ends the page and writes its file, which has no name yet.
    ///
    /// - Returns: What the file holds.
    /// - Throws: `CodecError` where the encoder fails, ``ExportFailure`` where it cannot be written.
    package func finish() throws -> ItemResult.Output {
        precondition(rowsDrawn == layout.rows, "a page ended before its last row")
        var output = ItemResult.Output(
            path: path, width: layout.width, height: layout.height, bytes: 0, checksum: "")
        try encoder.finish { bytes in
            output.bytes = bytes.count
            output.checksum = Checksum.xxh3(bytes)
            try file.write(bytes)
        }
        return output
    }

    /// - Throws: ``ExportFailure``, e.g. where a file stands there that may not be replaced.
    package func commit(mayReplace: Bool) throws(ExportFailure) {
        try file.commit(mayReplace: mayReplace)
    }

    private func fill(_ base: UnsafeMutableRawPointer, rows: Int) throws(CodecError) {
        paint(base, rows: 1)
        for _ in 0..<rows { try encoder.writeRows(base, strideBytes: stride, count: 1) }
    }

    private func paint(_ base: UnsafeMutableRawPointer, rows: Int) {
        let color = layout.background + [255]
        let bytes = base.assumingMemoryBound(to: UInt8.self)
        for i in 0..<stride * rows { bytes[i] = color[i & 3] }
    }

    private func put(_ tile: SheetTile, _ column: Int, onto base: UnsafeMutableRawPointer) {
        let picture = tile.picture
        precondition(
            picture.width <= layout.tileWidth && picture.height <= layout.tileHeight && !picture.hasAlpha,
            "a picture does not fit its tile")
        let x = layout.left(column) + (layout.tileWidth - picture.width) / 2
        let y = (layout.tileHeight - picture.height) / 2
        picture.bytes.withUnsafeBytes { bytes in
            for row in 0..<picture.height {
                let from = UnsafeRawBufferPointer(
                    rebasing: bytes[4 * row * picture.width..<4 * (row + 1) * picture.width])
                UnsafeMutableRawBufferPointer(start: base + (y + row) * stride + 4 * x, count: from.count).copyMemory(
                    from: from)
            }
        }
        let room = (
            x: layout.left(column), y: layout.tileHeight, width: layout.tileWidth, height: layout.captionHeight
        )
        guard let caption = tile.caption, let mark = captions?.mark(caption, in: room, color: layout.ink) else {
            return
        }
        for row in mark.y..<mark.y + mark.height {
            mark.draw(onto: base + row * stride, number: row, layout: .rgbx8, outputWidth: layout.width)
        }
    }
}
