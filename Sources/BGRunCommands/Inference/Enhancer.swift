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
    private let ceiling: MemoryCeiling
    private let reader = ImageReader()
    private let lanes = Lanes()
    private let tables = KeptTables()
    /// The picture's file, while its gain map is made.
    private let input = ImageExport.InputFile()
    private var loaded: (models: PreparedModels, port: String, preset: ImagePreset)?

    init(_ terms: EnhanceTerms, _ devices: InferenceDevices, _ entry: WeightEntry?, _ ceiling: MemoryCeiling) {
        self.terms = terms
        self.entry = entry
        self.devices = devices
        self.ceiling = ceiling
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
        let claim = item.limits.maxWorkingBytes
        let read = try ceiling.whileDecoding(on: item.lane, claimBytes: claim) { () throws(DataError) in
            try reader.read(descriptor: descriptor, preset: preset, limits: item.limits, keepsBypassed: true) {
                !pulse.mayGoOn
            }
        }
        result.format = read.header.format.rawValue
        result.notes = read.notes + read.damage
        if !read.damage.isEmpty { (result.status, result.damage) = (.damaged, read.damage) }
        pulse.runsModel(true)
        try pulse.goOn(after: 0)
        let picture = read.tensor
        result.inputPixels = picture.pictureSize.width * picture.pictureSize.height
        let heldBytes = picture.byteCount + (read.bypassed?.byteCount ?? 0)
        let made = try enhanced(picture, models, port, on: item.lane, within: claim, heldBytes: heldBytes, pulse)
        pulse.runsModel(false)
        try pulse.goOn(after: 0)
        if let note = read.bypassed?.note(resultChannels: made.channelCount, of: made.pictureSize) {
            result.notes.append(note)
        }
        if made.channelCount == 1, !read.header.isGray, read.bypassed?.hasColors != true {
            result.notes.append("the model makes one channel of its colours: the result is gray")
        }
        var outputs: [WrittenOutput] = []
        for output in item.outputs {
            var kept = try metadata(of: made, read.header, output.settings)
            let map = try ceiling.whileDecoding(on: item.lane, claimBytes: claim) {
                try gainMap(
                    for: kept.output, read.header, descriptor, item.limits, held: heldBytes + made.byteCount, pulse
                ) { if !kept.notes.contains($0) { kept.notes.append($0) } }
            }
            result.notes += kept.notes
            var encoder = encoder(output.settings, read.header)
            encoder.metadata = map?.metadata ?? kept.output.metadata
            encoder.gainMap = map?.file
            outputs.append(try write(made, read.bypassed, output, encoder, pulse, folder))
        }
        try pulse.mayCommit()
        return outputs
    }

    /// What the model makes of a picture, tile by tile.
    private func enhanced(
        _ picture: Tensor, _ models: PreparedModels, _ port: String, on lane: LaneChoice, within allowedBytes: Int,
        heldBytes: Int, _ pulse: BatchPulse
    ) throws -> Tensor {
        let size = picture.pictureSize
        let plan = try TilePlan(width: size.width, height: size.height, tile: terms.tile, margin: terms.margin)
        var left = plan.tiles.count
        return try TiledRun.run(
            picture, plan: plan, least: models.ports[0].type?.fixedSize ?? (1, 1), largestBytes: allowedBytes,
            heldBytes: heldBytes
        ) { tile throws(DataError) in
            let outputs: [String: Tensor]
            do {
                let type = TensorType(tile.elementType, extents: tile.shape)
                let prepared = try models.prepared(
                    for: [port: type], on: lane, within: allowedBytes, heldBytes: heldBytes)
                pulse.expect(steps: prepared.steps * left)
                left -= 1
                outputs = try prepared.execute([port: tile]) { !pulse.passes($0) }
            } catch let error as ModelError {
                throw DataError(error)
            } catch let error as DataError {
                throw error
            } catch {
                throw .mismatch("\(error)")
            }
            guard let output = outputs.values.first else { throw .mismatch("The model gave nothing.") }
            return output
        }
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

    /// How an output is written; bits are those of an export with these settings.
    private func encoder(_ settings: OutputSettings, _ header: ImageHeader) -> PictureEncoder {
        let format = settings.format ?? .jpeg
        var encoder = PictureEncoder(
            format: format,
            bitsPerChannel: settings.bitsPerChannel ?? (header.bitsPerChannel > 8 ? format.deepBits : nil) ?? 8,
            quality: settings.quality ?? format.defaultQuality ?? 100, lossless: settings.lossless)
        encoder.matte = settings.matte
        return encoder
    }

    private func write(
        _ picture: Tensor, _ bypassed: BypassedPicture?, _ output: ExportItem.Output, _ encoder: PictureEncoder,
        _ pulse: BatchPulse, _ folder: OutputFolder
    ) throws -> WrittenOutput {
        let size = picture.pictureSize
        let cost = CodecCost.encoding(encoder.format, optimize: false, lossless: encoder.lossless)
        var bytes: [UInt8] = []
        pulse.silentSeconds = cost * Double(size.width * size.height) / 1e6
        defer { pulse.silentSeconds = nil }
        try encoder.encode(picture, bypassed: bypassed, pulse: CodecPulse { pulse.mayGoOn }) { bytes += $0 }
        return try WrittenOutput(bytes, at: output.path, size: size, mayReplace: output.mayReplace, in: folder)
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
    /// The size of a picture, whose last two extents are its rows and columns.
    fileprivate var pictureSize: (width: Int, height: Int) { (shape[shape.count - 1], shape[shape.count - 2]) }
    /// The channels of a picture: the extent before its rows and columns.
    fileprivate var channelCount: Int { shape[shape.count - 3] }
}

extension BypassedPicture {
    /// What the person should be told of what went past the model; nil where that changes nothing.
    fileprivate func note(resultChannels: Int, of size: (width: Int, height: Int)) -> String? {
        let isColored = hasColors && resultChannels == 1
        let parts = [hasAlpha ? "alpha" : nil, isColored ? "the colours" : nil].compactMap(\.self)
        guard !parts.isEmpty else { return nil }
        let how = size == (width, height) ? "kept beside it" : "resized beside it as by an export"
        let were = isColored ? "were" : "was"
        let seen = isColored ? "luma alone" : "no alpha"
        return "the model sees \(seen): \(parts.joined(separator: " and ")) \(were) \(how)"
    }
}
