package import ChunkedCompute
package import ImageCodecs

/// One output that was made earlier, with what was recorded of it.
package struct VerifyItem: Codable, Hashable, Sendable {
    package var path: String
    package var bytes: Int
    package var width: Int
    package var height: Int
    /// XXH3-128 of the file, hexadecimal.
    package var checksum: String
    package var limits: DecodeLimits

    package init(path: String, bytes: Int, width: Int, height: Int, checksum: String, limits: DecodeLimits) {
        self.path = path
        self.bytes = bytes
        self.width = width
        self.height = height
        self.checksum = checksum
        self.limits = limits
    }
}

/// Compares outputs with what was recorded of them, and decodes them again. One per worker; keeps its buffers.
package final class OutputVerifier {
    /// Rows decoded at a time.
    private static let batch = 16

    private let input = InputFile()
    private let rows = Scratch()

    package init() {}

    /// - Parameters:
    ///   - item: What was recorded.
    ///   - descriptor: The file, open for reading, which stays the caller's.
    ///   - onProgress: Called between rows; returning false asks to stop.
    /// - Returns: `good`; or `failed` with `damaged` for a file that does not decode, and with `changed` for a sound
    ///   picture that is another one.
    package func verify(
        _ item: VerifyItem, input descriptor: Int32, onProgress: @escaping (ItemProgress) -> Bool
    ) -> ItemResult {
        var result = ItemResult(status: .good)
        var latest = ItemProgress(done: 0, total: item.height)
        let pulse = CodecPulse { onProgress(latest) }
        do {
            try input.read(descriptor: descriptor, limits: item.limits, pulse: pulse)
            result.inputBytes = input.bytes.count
            result.inputChecksum = Checksum.xxh3(input.bytes)
            let isAsWritten = result.inputChecksum == item.checksum && input.bytes.count == item.bytes
            let picture = try decode(item.limits, pulse) { done in
                latest.done = done
                try pulse.check()
            }
            result.format = picture.header.format.rawValue
            result.inputPixels = picture.header.width * picture.header.height
            let isOfItsSize = (picture.header.width, picture.header.height) == (item.width, item.height)
            result.failure =
                if !picture.damage.isEmpty {
                    Self.damaged(picture.damage.joined(separator: "; "), isAsWritten)
                } else if isAsWritten, !isOfItsSize {
                    Self.damaged("it has \(Self.size(picture.header)) pixels", isAsWritten)
                } else if !isAsWritten {
                    Self.changed(item, picture.header, bytes: input.bytes.count)
                } else {
                    nil
                }
            if result.failure != nil { result.status = .failed }
        } catch let error as CodecError where error.code == .stopped {
            result.status = .stopped
        } catch let error as CodecError {
            result.status = .failed
            result.failure =
                error.code == .limit || error.code == .outOfMemory
                ? .init(code: error.code.rawValue, reason: error.reason)
                : Self.damaged(error.reason, result.inputChecksum == item.checksum)
        } catch let error as ExportFailure {
            result.status = .failed
            result.failure =
                error.code == "unknownFormat"
                ? Self.damaged(error.reason, false) : .init(code: error.code, reason: error.reason)
        } catch {
            result.status = .failed
            result.failure = .init(code: "internal", reason: "\(error)")
        }
        result.workingBytes = input.bytes.count + rows.byteCount
        return result
    }

    /// Reads every bit of the picture, at the scale that costs least.
    private func decode(
        _ limits: DecodeLimits, _ pulse: CodecPulse, onRows: (Int) throws -> Void
    ) throws -> (header: ImageHeader, damage: [String]) {
        let decoder = try CodecRegistry.decoder(for: input.bytes, limits: limits)
        decoder.pulse = pulse
        let (width, height) = try decoder.start(scaleEighths: decoder.scalesEighths.last ?? 8)
        let stride = width * decoder.header.layout.bytesPerPixel
        let room = rows.bytes(stride * Self.batch)
        var done = 0
        while done < height {
            let count = try decoder.readRows(into: room, strideBytes: stride, count: min(Self.batch, height - done))
            guard count > 0 else { throw CodecError(.damaged, "the picture ends after \(done) of \(height) rows") }
            done += count
            try onRows(done)
        }
        return (decoder.header, decoder.damage)
    }

    private static func damaged(_ reason: String, _ isAsWritten: Bool) -> ItemResult.Failure {
        .init(code: "damaged", reason: (isAsWritten ? "as it was written: " : "its bytes are others now: ") + reason)
    }

    private static func changed(_ item: VerifyItem, _ header: ImageHeader, bytes: Int) -> ItemResult.Failure {
        let difference =
            (header.width, header.height) != (item.width, item.height)
            ? "it has \(size(header)) pixels, and was written with \(item.width) × \(item.height)"
            : bytes != item.bytes
                ? "it has \(bytes) bytes, and was written with \(item.bytes)" : "its bytes are others than were written"
        return .init(code: "changed", reason: "a sound picture, but not the one that was written: \(difference)")
    }

    private static func size(_ header: ImageHeader) -> String { "\(header.width) × \(header.height)" }
}
