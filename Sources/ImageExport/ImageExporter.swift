package import ChunkedCompute
import ImageCodecs

/// Carries one item from its input file to its outputs. One per worker thread; keeps its buffers between
/// items.
package final class ImageExporter {
    /// Buffers above this size are given back after the item that needed them.
    private static let keptBytes = 128 << 20

    /// Bytes of a file that are written at a time.
    private static let writtenBytes = 128 << 10

    private let lanes: Lanes
    private let chunkRows: Int?
    private let input = InputFile()
    /// The rows of each decoding.
    private var windows: [(rows: RowWindow, staging: Scratch)] = []
    private let tables = KeptTables()
    private var buffers: [OutputPipeline.Buffers] = []
    private lazy var markMaker = MarkMaker(lanes)
    private var encodeFactor = EncodeFactor()

    /// - Parameters:
    ///   - lanes: Where kernels run.
    ///   - chunkRows: Output rows in a chunk; nil lets the lane choose. Never changes a byte of the outputs.
    package init(lanes: Lanes = Lanes(), chunkRows: Int? = nil) {
        self.lanes = lanes
        self.chunkRows = chunkRows
    }

    /// As ``make(_:input:into:onProgress:)``, and commits the outputs.
    ///
    /// - Returns: The one outcome of the item; errors are in it.
    package func export(
        _ item: ExportItem, input descriptor: Int32? = nil, into folder: OutputFolder? = nil,
        onProgress: (ItemProgress) -> Bool
    ) -> ItemResult {
        make(item, input: descriptor, into: folder, onProgress: onProgress).commit()
    }

    /// - Parameters:
    ///   - item: What to make.
    ///   - descriptor: The input, open for reading, which stays the caller's; nil opens the item's path.
    ///   - folder: Where all outputs lie, and beyond which none is written; nil takes each output's path as it is.
    ///   - onProgress: Called between bands; returning false asks to stop before the outputs are committed.
    /// - Returns: The item with its outputs, which are to be committed; none where it was stopped or failed.
    package func make(
        _ item: ExportItem, input descriptor: Int32? = nil, into folder: OutputFolder? = nil,
        onProgress: (ItemProgress) -> Bool
    ) -> MadeItem {
        var result = ItemResult(status: .good)
        var outputs: [WrittenOutput] = []
        do {
            outputs = try withoutActuallyEscaping(onProgress) { onProgress in
                try run(item, input: descriptor, into: folder, onProgress: onProgress, result: &result)
            }
        } catch is Stopped {
            result.status = .stopped
        } catch let error as CodecError where error.code == .stopped {
            result.status = .stopped
        } catch {
            result.status = .failed
            result.failure = Self.failure(error)
            result.workingBytes += (error as? CodecError)?.workingBytes ?? 0
        }
        input.trim(above: Self.keptBytes)
        for window in windows {
            window.rows.trim(above: Self.keptBytes)
            window.staging.trim(above: Self.keptBytes)
        }
        for buffers in buffers { buffers.trim(above: Self.keptBytes) }
        return MadeItem(result, outputs: outputs)
    }

    private struct Stopped: Error {}

    private func run(
        _ item: ExportItem, input descriptor: Int32?, into folder: OutputFolder?,
        onProgress: @escaping (ItemProgress) -> Bool, result: inout ItemResult
    ) throws -> [WrittenOutput] {
        // What is told within calls that take long is what was told before them.
        var latest = ItemProgress(done: 0, total: 1)
        let pulse = CodecPulse { onProgress(latest) }
        func tell(_ progress: ItemProgress) throws {
            latest = progress
            guard onProgress(progress) else { throw Stopped() }
        }
        let lane = try lanes.lane(item.lane)
        var clock = ContinuousClock.now
        if let descriptor {
            try input.read(descriptor: descriptor, limits: item.limits, pulse: pulse)
        } else {
            try input.read(item.input, limits: item.limits, pulse: pulse)
        }
        try tell(latest)
        result.inputBytes = input.bytes.count
        result.workingBytes = input.bytes.count
        result.inputChecksum = Checksum.xxh3(input.bytes)
        result.times.read = clock.secondsSince

        try tell(latest)
        let raw = item.outputs.first?.settings.raw ?? .develop
        var decoder = try CodecRegistry.decoder(for: input.bytes, limits: item.limits, raw: raw)
        decoder.pulse = pulse
        let header = decoder.header
        result.format = header.format.rawValue
        result.inputPixels = header.width * header.height
        result.notes = header.notes
        result.workingBytes += decoder.workingBytes(scaleEighths: decoder.scalesEighths.max() ?? 8)
        var preparation = try ExportPreparation(
            item: item, decoder: decoder, lane: lane, chunkRows: chunkRows,
            content: ExportPreparation.content(checksum: result.inputChecksum), tables: tables)
        var refused = preparation.refused
        result.notes += preparation.notes

        while buffers.count < preparation.outputs.count { buffers.append(OutputPipeline.Buffers()) }
        result.workingBytes = input.bytes.count + preparation.workingBytes
        clock = ContinuousClock.now
        try addGainMaps(to: &preparation, of: header, item, pulse, &result)
        result.times.encode += clock.secondsSince
        var pipelines: [OutputPipeline] = []
        var chains: [EncoderChain] = []
        let facts = MarkMaker.Facts(path: item.input, header.metadata, modified: input.modified)
        var made: [ExportPreparation.Output] = []
        for (index, output) in preparation.outputs.enumerated() {
            let settings = output.item.settings
            let chain = try OutputRefusal.attempt(output.item.path, refused: &refused) {
                let marks = try markMaker.marks(
                    of: settings, on: EncoderChain.inside(output.encode, settings), output.paint, facts, item.limits,
                    pulse)
                return try EncoderChain(output.encode, settings, marks: marks, paint: output.paint)
            }
            guard let chain else { continue }
            chain.head.pulse = pulse
            made.append(output)
            result.workingBytes += chain.head.workingBytes
            chains.append(chain)
            pipelines.append(
                OutputPipeline(
                    plan: output.plan, lane: lane, encoder: chain.head, buffers: buffers[index], pulse: pulse))
        }
        preparation.outputs = made
        guard result.workingBytes <= item.limits.maxWorkingBytes else {
            throw ExportFailure.memoryShare(result.workingBytes, of: item.limits.maxWorkingBytes)
        }
        if made.isEmpty { throw NoOutputs(refused: refused) }

        // Rows of all decodings, as if each were at full scale.
        let scales = preparation.scalesEighths
        let total = scales.count * header.height
        var rowsBefore = 0
        for group in decoder.bytesForFollowers == nil ? scales.map({ [$0] }) : [scales] {
            try tell(ItemProgress(done: rowsBefore, total: total, silentSeconds: header.silentSeconds))
            if rowsBefore > 0 {
                decoder = try CodecRegistry.decoder(for: input.bytes, limits: item.limits, raw: raw)
                decoder.pulse = pulse
            }
            let decodings = try group.enumerated().map { place, scale in
                try decoding(
                    place, of: place == 0 ? decoder : decoder.follower(), scaleEighths: scale, pipelines, preparation,
                    lane)
            }
            latest.silentSeconds = nil
            while decodings.contains(where: { !$0.source.isAtEnd }) {
                for (place, decoding) in decodings.enumerated() {
                    // The others take all that the first one has read.
                    while !decoding.source.isAtEnd {
                        let hasMoved = try decoding.step {
                            let done = decodings.reduce(rowsBefore) { $0 + $1.rowsDone(of: header.height) }
                            try tell(ItemProgress(done: done, total: total))
                        }
                        if place == 0 || !hasMoved { break }
                    }
                }
            }
            rowsBefore += group.count * header.height
            for decoding in decodings {
                let damage = decoding.source.decoder.damage
                if !damage.isEmpty { result.status = .damaged }
                let more = damage.filter { !result.damage.contains($0) }
                result.damage += more
                result.notes += more
                result.times.decode += decoding.source.decodeSeconds
                result.times.kernels += decoding.pump.kernelSeconds
            }
        }

        var outputs: [WrittenOutput] = []
        for (index, (pipeline, output)) in zip(pipelines, preparation.outputs).enumerated() {
            var written = ItemResult.Output(
                path: output.item.path, width: output.encode.width, height: output.encode.height, bytes: 0,
                checksum: "")
            let file = try PendingFile(path: output.item.path, in: folder)
            var begun = ContinuousClock.now
            func finish() throws {
                try pipeline.finish { step in
                    var progress = ItemProgress(done: total, total: total)
                    if step == .encoder {
                        progress.silentSeconds = output.encode.expectedSeconds * chains[index].silence
                        progress.encode = encodeFactor.encode(of: output)
                    }
                    try tell(progress)
                    begun = .now
                } write: { bytes in
                    encodeFactor.learn(from: output, seconds: begun.secondsSince)
                    written.bytes = bytes.count
                    written.checksum = Checksum.xxh3(bytes)
                    // The encoder is done.
                    (latest.silentSeconds, latest.encode) = (nil, nil)
                    for start in stride(from: 0, to: bytes.count, by: Self.writtenBytes) {
                        try pulse.check()
                        let end = min(start + Self.writtenBytes, bytes.count)
                        try file.write(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                    }
                }
            }
            guard try OutputRefusal.attempt(output.item.path, refused: &refused, finish) != nil else { continue }
            if let note = chains[index].note { result.notes.append(note) }
            result.times.kernels += pipeline.kernelSeconds
            result.times.encode += pipeline.encodeSeconds
            outputs.append(WrittenOutput(facts: written, file: file, mayReplace: output.item.mayReplace))
        }
        if outputs.isEmpty { throw NoOutputs(refused: refused) }
        result.refused = refused.map(\.failure)
        try tell(ItemProgress(done: total, total: total, commits: true))
        return outputs
    }

    /// A decoding of the input, and what reads it.
    private struct Decoding {
        var source: SourceReader
        var window: RowWindow
        var pump: PipelinePump

        /// Rows of the whole picture that have been read.
        func rowsDone(of height: Int) -> Int { source.rowsDone * height / source.height }

        func step(_ tell: () throws -> Void) throws -> Bool { try pump.step(source, through: window, tell: tell) }
    }

    /// Starts a decoding at one scale, for the outputs that need it.
    private func decoding(
        _ place: Int, of decoder: (any ImageDecoder)?, scaleEighths: Int, _ pipelines: [OutputPipeline],
        _ preparation: ExportPreparation, _ lane: any ImageLane
    ) throws -> Decoding {
        guard let decoder else { preconditionFailure("a decoder keeps bytes for followers and has none") }
        if windows.count == place { windows.append((RowWindow(), Scratch())) }
        let window = windows[place]
        let source = try SourceReader(
            decoder: decoder, scaleEighths: scaleEighths, toRGB: preparation.toRGB, window: window.rows,
            staging: window.staging)
        let pump = PipelinePump(pipelines, preparation, scaleEighths: scaleEighths, lane: lane)
        pump.begin(source, through: window.rows)
        return Decoding(source: source, window: window.rows, pump: pump)
    }

    /// Makes the gain maps that outputs keep, and says why others have none.
    private func addGainMaps(
        to preparation: inout ExportPreparation, of header: ImageHeader, _ item: ExportItem, _ pulse: CodecPulse,
        _ result: inout ItemResult
    ) throws {
        func tell(_ note: String) {
            if !result.notes.contains(note) { result.notes.append(note) }
        }
        let settings = item.outputs.map(\.settings)
        guard
            let maker = try GainMapMaker(
                header, lane: try lanes.lane(.cpu), settings: settings, tables: tables, tell: tell)
        else { return }
        for index in preparation.outputs.indices {
            let output = preparation.outputs[index]
            let kept = try maker.kept(
                by: GainMapMaker.Output(
                    geometry: output.plan.geometry, settings: output.item.settings, format: output.encode.format,
                    metadata: output.encode.metadata),
                file: input.bytes, limits: item.limits, pulse: pulse,
                claim: { bytes in
                    result.workingBytes += bytes
                    guard result.workingBytes <= item.limits.maxWorkingBytes else {
                        throw ExportFailure.memoryShare(result.workingBytes, of: item.limits.maxWorkingBytes)
                    }
                }, tell: tell)
            guard let kept else { continue }
            preparation.outputs[index].encode.metadata = kept.metadata
            preparation.outputs[index].encode.gainMap = kept.file
            result.workingBytes += kept.file.count
        }
    }

    /// Why an input has no output, of what its pipeline threw.
    package static func failure(_ error: any Error) -> ItemResult.Failure {
        switch error {
        case let error as NoOutputs: error.failure
        case let error as ExportFailure: ItemResult.Failure(code: error.code, reason: error.reason)
        case let error as CodecError: ItemResult.Failure(code: error.code.rawValue, reason: error.reason)
        case let error as LaneError: ItemResult.Failure(code: "device", reason: error.description)
        default: ItemResult.Failure(code: "internal", reason: "\(error)")
        }
    }
}
