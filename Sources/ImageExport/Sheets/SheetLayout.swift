/// A page of tiles in rows and columns, each with room for a line under it. Lengths are pixels.
package struct SheetLayout: Hashable, Sendable {
    package var columns: Int
    package var rows: Int
    package var tileWidth: Int
    package var tileHeight: Int
    /// Height of the line under each tile; 0 for none.
    package var captionHeight: Int
    /// Between tiles, and around all of them.
    package var gap: Int
    /// 8-bit R, G, B in the space of the page.
    package var background: [UInt8]

    package init(
        columns: Int, rows: Int, tileWidth: Int, tileHeight: Int, captionHeight: Int, gap: Int, background: [UInt8]
    ) {
        self.columns = columns
        self.rows = rows
        self.tileWidth = tileWidth
        self.tileHeight = tileHeight
        self.captionHeight = captionHeight
        self.gap = gap
        self.background = background
    }

    package var width: Int { gap + columns * (tileWidth + gap) }
    package var height: Int { gap + rows * rowHeight }
    /// A row of tiles with what is below it.
    var rowHeight: Int { tileHeight + captionHeight + gap }

    /// Left edge of a tile.
    func left(_ column: Int) -> Int { gap + column * (tileWidth + gap) }

    /// Black or white, whichever is seen on the background.
    var ink: [UInt8] {
        let luma = zip(background, lumaWeights).reduce(0) { $0 + Double($1.0) * $1.1 }
        return [UInt8](repeating: luma > 127 ? 0 : 255, count: 3)
    }
}

/// One picture of a page.
package struct SheetTile: Sendable {
    /// No larger than a tile of the layout, without alpha.
    package var picture: RenderedPicture
    package var caption: String?

    package init(picture: RenderedPicture, caption: String?) {
        self.picture = picture
        self.caption = caption
    }
}
