/// Tells the raw files of cameras apart.
enum CameraRaw {
    /// First bytes of those that are no TIFF: Fujifilm, Panasonic, Olympus (three kinds), Sigma, old Canon.
    static let signatures: [[UInt8]] =
        ["FUJIFILMCCD-RAW", "IIU\0", "IIRO", "IIRS", "MMOR", "FOVb"].map { Array($0.utf8) }
        + [[0x49, 0x49, 0x1A, 0, 0, 0] + Array("HEAPCCDR".utf8)]

    private static let subfileType = 0xFE
    private static let photometric = 0x106
    private static let subdirectories = 0x14A
    private static let dngVersion = 0xC612
    /// Colour filter array, and linear raw (DNG 1.4).
    private static let sensorValues = [32_803, 34_892]

    /// Whether a TIFF is one: most cameras write one, whose first page is a small preview or the sensor's values.
    static func isStored(in tiff: UnsafeRawBufferPointer) -> Bool {
        guard let structure = TIFFStructure(tiff) else { return false }
        // Canon's CR2 and Phase One's IIQ say so behind the header.
        if tiff[8..<10].elementsEqual("CR".utf8) { return true }
        if tiff[8..<12].elementsEqual("IIII".utf8) || tiff[8..<12].elementsEqual("MMMM".utf8) { return true }
        let first = structure.firstDirectory
        func number(_ tag: Int) -> Int? {
            first.first { $0.tag == tag }.flatMap(structure.number(of:))
        }
        if first.contains(where: { $0.tag == dngVersion }) { return true }
        if let kind = number(photometric), sensorValues.contains(kind) { return true }
        let isPreview = (number(subfileType) ?? 0) & 1 == 1
        return isPreview && first.contains { $0.tag == subdirectories }
    }
}
