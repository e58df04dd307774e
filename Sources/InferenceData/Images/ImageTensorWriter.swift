import ChunkedCompute
import Inference

/// Writes finished pixels into a tensor: order of channels and axes, scale, mean, deviation, and colour around the picture.
struct ImageTensorWriter {
    private let preset: ImagePreset
    private let geometry: ImageGeometry
    private let elementType: ElementType
    private let shape: [Int]
    let byteCount: Int

    /// - Throws: `unsupported` for other element types, `tooLarge`.
    init(_ preset: ImagePreset, geometry: ImageGeometry, elementType: ElementType) throws(DataError) {
        guard [.float32, .float16, .float64, .uint8].contains(elementType) else {
            throw .unsupported(["pictures as \(elementType.rawValue)"])
        }
        self.preset = preset
        self.geometry = geometry
        self.elementType = elementType
        let channels = preset.channelCount
        let shape =
            preset.layout == .nchw
            ? [1, channels, geometry.height, geometry.width] : [1, geometry.height, geometry.width, channels]
        self.shape = shape
        let count = try asDataError { () throws(ModelError) in try Extents.count(shape) }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: elementType.byteCount)
        guard !overflow else { throw .tooLarge("The shape \(shape) has more bytes than can be counted.") }
        byteCount = bytes
    }

    /// - Parameters:
    ///   - picture: The part that is shown, upright: four samples a pixel, of 8 bits or of 16.
    ///   - isWide: 16 bits.
    /// - Returns: The whole tensor.
    /// - Throws: `tooLarge`.
    func tensor(_ picture: RowBand, isWide: Bool) throws(DataError) -> Tensor {
        switch elementType {
        case .float16: try filled(picture, isWide) { Float16($0) }
        case .float64: try filled(picture, isWide) { $0 }
        case .uint8: try filled(picture, isWide) { UInt8(min(max($0, 0), 255).rounded()) }
        default: try filled(picture, isWide) { Float($0) }
        }
    }

    private func filled<Element: BitwiseCopyable>(
        _ picture: RowBand, _ isWide: Bool, _ convert: @escaping (Double) -> Element
    ) throws(DataError) -> Tensor {
        try asDataError { () throws(ModelError) in
            try Tensor(elementType, shape: shape) { bytes in
                let target = bytes.bindMemory(to: Element.self)
                for channel in 0..<preset.channelCount {
                    let mean = preset.mean[preset.mean.count == 1 ? 0 : channel]
                    let deviation = preset.std[preset.std.count == 1 ? 0 : channel]
                    let plane = Plane(
                        target: target, channel: channel, geometry: geometry, layout: preset.layout,
                        channelCount: preset.channelCount, source: preset.source(of: channel),
                        value: { convert(($0 * preset.scale - mean) / deviation) })
                    plane.surround(preset.fill)
                    if isWide { plane.writeWide(picture) } else { plane.write(picture) }
                }
            }
        }
    }
}

/// One channel of a tensor.
private struct Plane<Element: BitwiseCopyable> {
    let target: UnsafeMutableBufferPointer<Element>
    let channel: Int
    let geometry: ImageGeometry
    let layout: ImagePreset.Layout
    let channelCount: Int
    let source: ImagePreset.Source
    /// The element of a code 0 ... 255, which may have a fraction.
    let value: (Double) -> Element

    private var start: Int { layout == .nchw ? channel * geometry.width * geometry.height : channel }
    private var step: Int { layout == .nchw ? 1 : channelCount }

    private func offset(x: Int, y: Int) -> Int { start + (y * geometry.width + x) * step }

    func surround(_ fill: [UInt8]) {
        let (columns, rows) = (geometry.columns, geometry.rows)
        guard columns.count < geometry.width || rows.count < geometry.height else { return }
        let element = value(source.code(Double(fill[0]), Double(fill[1]), Double(fill[2])))
        for y in 0..<geometry.height {
            for x in 0..<geometry.width where !(rows.contains(y) && columns.contains(x)) {
                target[offset(x: x, y: y)] = element
            }
        }
    }

    func write(_ picture: RowBand) {
        let table = (0..<256).map { value(Double($0)) }
        let luma: Bool = if case .luma = source { true } else { false }
        let sample = source.sample
        for (row, y) in geometry.rows.enumerated() {
            let pixels = picture.pointer(row: row).assumingMemoryBound(to: UInt8.self)
            var place = offset(x: geometry.columns.lowerBound, y: y)
            for x in 0..<geometry.columns.count {
                let code =
                    luma
                    // The integer form of the weights that Pillow uses.
                    ? (Int(pixels[4 * x]) * 19_595 + Int(pixels[4 * x + 1]) * 38_470 + Int(pixels[4 * x + 2]) * 7_471
                        + 0x8000) >> 16
                    : Int(pixels[4 * x + sample])
                target[place] = table[code]
                place += step
            }
        }
    }

    func writeWide(_ picture: RowBand) {
        for (row, y) in geometry.rows.enumerated() {
            let pixels = picture.pointer(row: row).assumingMemoryBound(to: UInt16.self)
            var place = offset(x: geometry.columns.lowerBound, y: y)
            for x in 0..<geometry.columns.count {
                let code = source.code(Double(pixels[4 * x]), Double(pixels[4 * x + 1]), Double(pixels[4 * x + 2]))
                target[place] = value(code / 257)
                place += step
            }
        }
    }
}

extension ImagePreset {
    /// What a channel is made of.
    fileprivate enum Source {
        case sample(Int)
        case luma

        var sample: Int {
            if case .sample(let index) = self { index } else { 0 }
        }

        func code(_ red: Double, _ green: Double, _ blue: Double) -> Double {
            switch self {
            case .sample(0): red
            case .sample(1): green
            case .sample: blue
            case .luma: 0.299 * red + 0.587 * green + 0.114 * blue
            }
        }
    }

    fileprivate func source(of channel: Int) -> Source {
        switch channels {
        case .rgb: .sample(channel)
        case .bgr: .sample(2 - channel)
        case .gray: .luma
        }
    }
}
