/// Writes a DNG whose sensor saw a red half beside a blue one under a filter of red, green, green, blue.
enum RawWriter {
    static let width = 64
    static let height = 48

    static func file(orientation: Int, width: Int = width, height: Int = height) -> [UInt8] {
        var writer = TIFFWriter(width: width, height: height) { x, y, _ in
            switch (x % 2, y % 2) {
            case (0, 0): return x < width / 2 ? 40_000 : 3_000
            case (1, 1): return x < width / 2 ? 3_000 : 40_000
            default: return 9_000
            }
        }
        writer.bits = 16
        writer.samples = 1
        writer.photometric = 32_803
        writer.orientation = orientation
        func text(_ value: String) -> [Int] { value.utf8.map(Int.init) + [0] }
        // Maker, model and date; the filter; DNG version and camera; black, white, as-shot neutral and XYZ to camera.
        writer.more = [
            (271, 2, text("Maker")), (272, 2, text("Model")), (306, 2, text("2024:01:02 03:04:05")),
            (33_421, 3, [2, 2]), (33_422, 1, [0, 1, 1, 2]),
            (50_706, 1, [1, 4, 0, 0]), (50_708, 2, text("Maker Model")),
            (50_714, 3, [0]), (50_717, 3, [65_535]), (50_728, 5, [1, 1, 1, 1, 1, 1]),
            // The matrix of sRGB's primaries under D65, in thousandths.
            (50_721, 10, [3_240, -1_537, -499, -969, 1_876, 42, 56, -204, 1_057].flatMap { [$0, 1_000] }),
            (50_778, 3, [21]),
        ]
        return writer.file()
    }
}
