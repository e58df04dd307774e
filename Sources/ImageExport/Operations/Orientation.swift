package import ChunkedCompute

/// The eight EXIF orientations as a rearrangement of finished pixels (Exif 2.32, tag 274).
package struct Orientation: Sendable {
    package let value: Int

    package init(_ value: Int) {
        self.value = (1...8).contains(value) ? value : 1
    }

    package var isTransposed: Bool { value >= 5 }

    /// Stored columns run from the right to the left, or from the bottom to the top, of the upright picture.
    var runsFromRight: Bool { [2, 3, 7, 8].contains(value) }

    /// Stored rows run from the bottom to the top, or from the right to the left, of the upright picture.
    var runsFromBelow: Bool { [3, 4, 6, 7].contains(value) }

    /// The stored picture is its mirror image.
    var isMirrored: Bool { [2, 4, 5, 7].contains(value) }

    /// This orientation followed by quarter turns clockwise.
    package func turned(_ quarters: Int) -> Orientation {
        // In each row a turn leads to the next.
        let circle = [1, 3, 6, 8].contains(value) ? [1, 6, 3, 8] : [2, 7, 4, 5]
        let place = circle.firstIndex(of: value) ?? 0
        return Orientation(circle[(place + quarters) & 3])
    }

    /// Where a part of the upright picture lies in the stored one of that size.
    func stored(_ part: Crop.Part, width: Double, height: Double) -> Crop.Part {
        guard isTransposed else {
            return Crop.Part(
                x: value == 2 || value == 3 ? width - part.x - part.width : part.x,
                y: value == 3 || value == 4 ? height - part.y - part.height : part.y, width: part.width,
                height: part.height)
        }
        return Crop.Part(
            x: value >= 7 ? width - part.y - part.height : part.y,
            y: value == 6 || value == 7 ? height - part.x - part.width : part.x, width: part.height,
            height: part.width)
    }

    /// Fills upright rows from the stored picture.
    ///
    /// - Parameters:
    ///   - stored: All rows of the stored picture.
    ///   - width: Pixels in a stored row.
    ///   - pixelBytes: 4 or 8.
    ///   - output: The upright rows to fill.
    package func upright(from stored: RowBand, width: Int, pixelBytes: Int, into output: RowBand) {
        switch pixelBytes {
        case 4: rearrange(UInt32.self, from: stored, width: width, into: output)
        case 8: rearrange(UInt64.self, from: stored, width: width, into: output)
        default: preconditionFailure("pixels of \(pixelBytes) bytes")
        }
    }

    private func rearrange<Pixel: BitwiseCopyable>(
        _ type: Pixel.Type, from stored: RowBand, width: Int, into output: RowBand
    ) {
        let height = stored.rowCount
        func row(_ band: RowBand, _ y: Int) -> UnsafeMutablePointer<Pixel> {
            band.pointer(row: y).assumingMemoryBound(to: type)
        }
        let range = output.firstRow..<output.firstRow + output.rowCount
        guard isTransposed else {
            for y in range {
                let from = row(stored, value == 3 || value == 4 ? height - 1 - y : y)
                let to = row(output, y)
                if value == 2 || value == 3 {
                    for x in 0..<width { to[x] = from[width - 1 - x] }
                } else {
                    to.update(from: from, count: width)
                }
            }
            return
        }
        // Upright row Y is stored column Y (5, 6) or W - 1 - Y (7, 8). Blocks, so that a cache line of each stored row serves all
        // output rows of the band, and output rows are written a line at a time.
        let from = stored.base.assumingMemoryBound(to: type)
        let to = output.base.assumingMemoryBound(to: type)
        let fromStride = stored.strideBytes / MemoryLayout<Pixel>.stride
        let toStride = output.strideBytes / MemoryLayout<Pixel>.stride
        let (mirrorsColumns, mirrorsRows) = (value >= 7, value == 6 || value == 7)
        let step = mirrorsRows ? -fromStride : fromStride
        let block = 16
        for x in stride(from: 0, to: height, by: block) {
            let count = min(block, height - x)
            let corner = from + (mirrorsRows ? height - 1 - x : x) * fromStride
            for y in range {
                let source = corner + (mirrorsColumns ? width - 1 - y : y)
                let target = to + (y - output.firstRow) * toStride + x
                for i in 0..<count { target[i] = source[i * step] }
            }
        }
    }
}
