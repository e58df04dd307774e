import CAllocations
import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport

/// What happens to one input: an export of it with small limits. Any ``ItemResult/Failure`` is fine.
enum Execution {
    /// Memory that an export may claim.
    private static let largestClaim = 128 << 20
    /// What is not claimed: tables of the codecs and of the language's runtime, tags, profiles and messages.
    private static let unclaimed = 4 << 20

    private static let target: String = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "image-fuzz-\(getpid())")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            fatalError("\(folder.path): \(error)")
        }
        return folder.appending(path: "out").path
    }()
    private static let input: Int32 = {
        let descriptor = open(target + ".in", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { fatalError("\(target).in: \(String(cString: strerror(errno)))") }
        return descriptor
    }()
    private static var limits: DecodeLimits {
        var limits = DecodeLimits()
        limits.maxPixels = 1 << 18
        limits.maxWorkingBytes = largestClaim
        return limits
    }

    /// Does once what libraries keep for later: an export from and to each format.
    static func warmUp() {
        for format in Choice.formats.indices.dropLast(2) {
            guard let seed = try? GeneratedSeeds.plain(format: Choice.formats[format] ?? .png) else { continue }
            for choice in Choice.formats.indices { ([UInt8(choice)] + seed).withUnsafeBytes { _ = export($0) } }
        }
    }

    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 1 else { return }
        allocations_begin()
        let result = export(bytes)
        let peak = Int(allocations_peak())
        // The message of a precondition is left out of an optimized program.
        if peak > min(result.workingBytes, largestClaim) + unclaimed {
            fatalError("took \(peak) bytes, claimed \(result.workingBytes): \(result.failure?.reason ?? "no failure")")
        }
        // A format that cannot hold the picture is found before the claims are added up.
        let isRefused = ["memoryShare", "encode"].contains(result.failure?.code)
        precondition(result.workingBytes <= largestClaim || isRefused, "beyond its limit")
        switch result.status {
        case .good, .damaged:
            precondition(result.outputs.count == 1, "an export without its output")
            for output in result.outputs { check(output) }
        case .failed: precondition(result.failure?.reason.isEmpty == false, "a failure without a reason")
        case .stopped: preconditionFailure("stopped, which nobody asked for")
        }
    }

    private static func export(_ bytes: UnsafeRawBufferPointer) -> ItemResult {
        let file = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        guard ftruncate(input, 0) == 0, pwrite(input, file.baseAddress, file.count, 0) == file.count else {
            fatalError("the input cannot be written")
        }
        let output = ExportItem.Output(settings: Choice.settings(bytes[0]), path: target, mayReplace: true)
        let item = ExportItem(input: target + ".in", outputs: [output], lane: .cpu, limits: limits)
        return ImageExporter().export(item, input: input) { _ in true }
    }

    /// A file that was written has the size that is said of it, and a sound header.
    private static func check(_ output: ItemResult.Output) {
        guard let data = FileManager.default.contents(atPath: output.path) else { preconditionFailure("no output") }
        precondition(data.count == output.bytes, "\(data.count) bytes instead of \(output.bytes)")
        do {
            let (width, height) = try data.withUnsafeBytes { bytes in
                let header = try CodecRegistry.decoder(for: bytes, limits: DecodeLimits()).header
                return (header.width, header.height)
            }
            precondition((width, height) == (output.width, output.height), "another size than was said")
        } catch {
            preconditionFailure("an output that cannot be read: \(error)")
        }
    }
}
