import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport
import Inference
import InferenceData

/// Carries pictures through a model to their written files. One per worker; keeps the prepared model.
final class Enhancer {
    private let terms: EnhanceTerms
    private let devices: InferenceDevices
    /// The model's weights, laid out before.
    private let entry: WeightEntry?
    private let reader = ImageReader()
    private let lanes = Lanes()
    private let tables = KeptTables()
    /// The picture's file, while its gain map is made.
    private let input = ImageExport.InputFile()
    private var loaded: (models: PreparedModels, port: String, preset: ImagePreset)?

    init(_ terms: EnhanceTerms, _ devices: InferenceDevices, _ entry: WeightEntry?) {
        self.terms = terms
        self.entry = entry
        self.devices = devices
    }

    /// As ``PreparedModels/takeNews()``.
    func takeNews() -> [LaidOutModel] { loaded?.models.takeNews() ?? [] }

    /// Gives up what lies on devices.
    func forgetDevices() { loaded?.models.forgetDevices() }

    /// - Parameters:
    ///   - item: What to make; of the settings, what concerns the encoder.
    ///   - descriptor: The picture, open.
    ///   - folder: Where outputs lie.
    ///   - onProgress: Asked between operators; returning false asks to stop before anything is committed.
    /// - Returns: The picture with its outputs, which are to be committed; none where it was stopped or failed.
    func make(
        _ item: ExportItem, input descriptor: Int32, into folder: OutputFolder,
        onProgress: @escaping (ItemProgress) -> Bool
    ) -> MadeItem {
        MadeItem(on: item.lane) { result in try run(item, descriptor, folder, onProgress, &result) }
    }

    private func run(
        _ item: ExportItem, _ descriptor: Int32, _ folder: OutputFolder,
        _ onProgress: @escaping (ItemProgress) -> Bool, _ result: inout ItemResult
    ) throws -> [WrittenOutput] {
        let (models, port, preset) = try load()
        let pulse = BatchPulse(steps: 1, onProgress)
        let read = try reader.read(descriptor: descriptor, preset: preset, limits: item.limits) { !pulse.mayGoOn }
        result.format = read.header.format.rawValue
        result.notes = read.notes + read.damage
        if !read.damage.isEmpty { result.status = .damaged }
        pulse.runsModel(true)
        try pulse.goOn(after: 0)
        let picture = read.tensor
        let (height, width) = (picture.shape[2], picture.shape[3])
        result.inputPixels = height * width
        let plan = try TilePlan(width: width, height: height, tile: terms.tile, margin: terms.margin)
        let largest = max(item.limits.maxWorkingBytes - picture.byteCount, 1)
        let made = try TiledRun.run(picture, plan: plan, largestBytes: largest) { tile throws(DataError) in
            let outputs: [String: Tensor]
            do throws(ModelError) {
                let type = TensorType(tile.elementType, extents: tile.shape)
                let prepared = try models.prepared(for: [port: type], on: item.lane)
                pulse.expect(steps: prepared.steps * plan.tiles.count)
                outputs = try prepared.execute([port: tile]) { !pulse.passes($0) }
            } catch {
                throw DataError(error)
            }
            guard let output = outputs.values.first else { throw .mismatch("The model gave nothing.") }
            return output
        }
        pulse.runsModel(false)
        try pulse.goOn(after: 0)
        var outputs: [WrittenOutput] = []
        for output in item.outputs {
            var kept = try metadata(of: made, read.header, output.settings)
            let map = try gainMap(for: kept.output, read.header, descriptor, item.limits, held: made.byteCount, pulse) {
                if !kept.notes.contains($0) { kept.notes.append($0) }
            }
            result.notes += kept.notes
            outputs.append(
                try write(made, output, metadata: map?.metadata ?? kept.output.metadata, gainMap: map?.file, folder))
        }
        try pulse.mayCommit()
        return outputs
    }

    /// An output as its metadata and its gain map see it, and what the person should be told.
    private func metadata(
        of picture: Tensor, _ header: ImageHeader, _ settings: OutputSettings
    ) throws -> (output: GainMapMaker.Output, notes: [String]) {
        let format = settings.format ?? .jpeg
        let (width, height) = picture.pictureSize
        let orientation = Orientation(header.orientation)
        var geometry = try OutputGeometry(
            width: header.width, height: header.height, orientation: orientation, size: .original, enlarge: true)
        (geometry.width, geometry.height) = orientation.isTransposed ? (height, width) : (width, height)
        let kept = header.outputMetadata(
            settings, color: try tables.color(of: header), width: width, height: height, geometry: geometry,
            format: format)
        return (
            GainMapMaker.Output(geometry: geometry, settings: settings, format: format, metadata: kept.metadata),
            kept.notes
        )
    }

    /// The input's gain map for one output, resized and turned as the picture is; nil where it has none.
    private func gainMap(
        for output: GainMapMaker.Output, _ header: ImageHeader, _ descriptor: Int32, _ limits: DecodeLimits,
        held heldBytes: Int, _ pulse: BatchPulse, tell: (String) -> Void
    ) throws -> GainMapMaker.Kept? {
        let lane = try lanes.lane(.cpu)
        guard
            let maker = try GainMapMaker(header, lane: lane, settings: [output.settings], tables: tables, tell: tell)
        else { return nil }
        let codecPulse = CodecPulse { pulse.mayGoOn }
        defer { input.trim(above: 0) }
        try input.read(descriptor: descriptor, limits: limits, pulse: codecPulse)
        return try maker.kept(
            by: output, file: input.bytes, limits: limits, pulse: codecPulse,
            claim: { bytes in
                let all = heldBytes + input.bytes.count + bytes
                guard all <= limits.maxWorkingBytes else {
                    throw ExportFailure.memoryShare(all, of: limits.maxWorkingBytes)
                }
            }, tell: tell)
    }

    private func write(
        _ picture: Tensor, _ output: ExportItem.Output, metadata: ImageMetadata, gainMap: [UInt8]?,
        _ folder: OutputFolder
    ) throws -> WrittenOutput {
        let settings = output.settings
        let format = settings.format ?? .jpeg
        let encoder = PictureEncoder(
            format: format, bitsPerChannel: settings.bitsPerChannel ?? 8,
            quality: settings.quality ?? format.defaultQuality ?? 100,
            lossless: settings.lossless, metadata: metadata, gainMap: gainMap)
        var bytes: [UInt8] = []
        try encoder.encode(picture) { bytes += $0 }
        return try WrittenOutput(
            bytes, at: output.path, size: picture.pictureSize, mayReplace: output.mayReplace, in: folder)
    }

    private func load() throws -> (models: PreparedModels, port: String, preset: ImagePreset) {
        if let loaded { return loaded }
        let models = PreparedModels(
            try ModelImporter(weights: .deferred).load(path: terms.model.path), extents: [:],
            batch: 1, precision: .fp32, devices: devices, entry: entry)
        let made = (models, models.ports[0].name, try models.ports[0].type?.pixels() ?? .unit)
        loaded = made
        return made
    }
}

extension Tensor {
    /// Of a picture, whose last two extents are its rows and columns.
    fileprivate var pictureSize: (width: Int, height: Int) { (shape[shape.count - 1], shape[shape.count - 2]) }
}
