/// How large a picture is on paper: pixels an inch, across and down.
package struct Resolution: Hashable, Sendable {
    package var x: Double
    package var y: Double

    /// nil for what no picture has, or a JPEG cannot say.
    package init?(x: Double, y: Double) {
        guard [x, y].allSatisfy({ (1...65_535).contains($0) }) else { return nil }
        self.x = x
        self.y = y
    }

    private static let metersPerInch = 0.0254

    /// What is a whole number but for the rounding to pixels a metre, is one.
    init?(perMeter x: UInt32, _ y: UInt32) {
        func perInch(_ value: UInt32) -> Double {
            let exact = Double(value) * Self.metersPerInch
            return abs(exact - exact.rounded()) <= Self.metersPerInch / 2 ? exact.rounded() : exact
        }
        self.init(x: perInch(x), y: perInch(y))
    }

    var perMeter: (x: UInt32, y: UInt32) {
        func rounded(_ value: Double) -> UInt32 { UInt32((value / Self.metersPerInch).rounded()) }
        return (rounded(x), rounded(y))
    }

    /// The resolution in an EXIF block, or in the first directory of a TIFF file (TIFF 6.0, section 8).
    init?(tiff bytes: UnsafeRawBufferPointer) {
        guard let structure = TIFFStructure(bytes) else { return nil }
        let entries = structure.firstDirectory
        func entry(_ tag: Int) -> TIFFStructure.Entry? { entries.first { $0.tag == tag } }
        guard let x = entry(282).flatMap(structure.ratio), let y = entry(283).flatMap(structure.ratio) else {
            return nil
        }
        switch entry(296).flatMap(structure.number) ?? 2 {
        case 2: self.init(x: x, y: y)
        case 3: self.init(x: x * 2.54, y: y * 2.54)
        default: return nil
        }
    }

    /// The picture lies on its side.
    package var transposed: Resolution {
        var copy = self
        (copy.x, copy.y) = (y, x)
        return copy
    }
}

extension ImageMetadata {
    /// What the EXIF block says.
    var exifResolution: Resolution? { exif.flatMap { $0.withUnsafeBytes { Resolution(tiff: $0) } } }

    /// What the container says, or where it says nothing the EXIF block.
    var statedResolution: Resolution? { resolution ?? exifResolution }
}
