import Foundation
import ImageCodecs
import SamplePhotos
import SeededNumbers
import Testing

/// `OPERATIONS.md` shows every operation, with what the program itself says about it.
@Suite(.serialized) struct OperationPageTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let page = folder.appending(path: "OPERATIONS.md")
    private static let pictures = folder.appending(path: "Operations")
    private static let kernels = folder.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Kernels/Image")
    private static let mostBytes = 200 << 10
    private static let size = (width: 228, height: 152)

    private let place: TestPlace
    private let writes = ProcessInfo.processInfo.environment["BGRUN_WRITE_RULES"] != nil

    init() throws {
        place = try TestPlace()
        for sample in OperationRow.Sample.allCases { try putSample(sample) }
        try PictureFile.write([220, 40, 40, 255], width: 40, height: 20, to: place.path + "/logo.png")
    }

    @Test func `every operation and its example are on the page`() throws {
        try place.write("operations:\n  - unheard-of: 1\n", to: "look.yaml")
        let ended = try place.bgrun("export", "plain.png", "--out", "out", "--preset", "look.yaml")
        let known = ended.errors.split(separator: "\"").map(String.init).filter {
            $0.allSatisfy { $0.isLetter || $0 == "-" }
        }
        let shown = OperationRow.look.map(\.name).filter { $0 != "sharpen" }
        #expect(Set(known).subtracting(["unheard-of"]) == Set(shown), "\(ended.errors)")
        let made = try markdown()
        if writes { try Data(made.utf8).write(to: Self.page) }
        #expect(
            try String(contentsOf: Self.page, encoding: .utf8) == made,
            "run BGRUN_WRITE_RULES=1 swift test -c release --filter OperationPageTests and commit OPERATIONS.md")
    }

    @Test func `every picture of the page is what the program makes`() throws {
        if writes { try FileManager.default.createDirectory(at: Self.pictures, withIntermediateDirectories: true) }
        var bytes = 0
        for row in OperationRow.all {
            let picture = Self.pictures.appending(path: "\(row.name).jpg")
            let out = place.path + "/\(row.name).jpg"
            let ended = try CommandRun(
                ["preview", "\(row.sample.rawValue).png", "--before-after", "--size", "original", "--quality", "60"]
                    + ["--out", out] + row.flags, in: place
            ).end()
            #expect(ended.status == 0, "\(row.name): \(ended.errors)")
            let made = try Data(contentsOf: URL(filePath: out))
            if writes { try made.write(to: picture) }
            // Other versions of the codec's library write other last digits.
            let (kept, now) = (try PictureFile(picture.path), try PictureFile(out))
            #expect((kept.header.width, kept.header.height) == (now.header.width, now.header.height), "\(row.name)")
            let differences = zip(kept.pixels, now.pixels).map { abs(Int($0) - Int($1)) }
            #expect(differences.reduce(0, +) <= differences.count, "\(row.name): \(differences.max() ?? 0)")
            bytes += try Data(contentsOf: picture).count
        }
        #expect(bytes <= Self.mostBytes)
    }

    /// What the program says that a flag takes, from its refusal of something else.
    private func range(of name: String) throws -> String {
        let ended = try place.bgrun("export", "plain.png", "--out", "out", "--\(name)=?")
        #expect(ended.status == 64)
        let line = try #require(ended.errors.split(separator: "\n").first { $0.contains(", not \"?\"") })
        let sentence = try #require(line.split(separator: ": ", maxSplits: 1).last)
        return String(sentence.prefix(upTo: try #require(sentence.range(of: ", not \"?\"")).lowerBound))
    }

    /// What the head of a kernel says about its reference.
    private func tolerance(_ kernel: String) throws -> String {
        let text = try String(contentsOf: Self.kernels.appending(path: "\(kernel).cl"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let line = try #require(lines.first { $0.hasPrefix("// Reference") })
        let found = try #require(line.split(separator: "; ").last)
        return String(found.hasSuffix(".") ? found.dropLast() : found)
    }

    private func markdown() throws -> String {
        var lines = [
            "# Operations", "",
            "Made by `BGRUN_WRITE_RULES=1 swift test -c release --filter OperationPageTests`; without the variable the test",
            "compares. Each picture is what `bgrun preview --before-after` makes of a generated photograph of",
            "\(Self.size.width) × \(Self.size.height) pixels with the flags above it: the picture as it is, then the result. For denoise",
            "noise of about 16 levels was added to it, for deconvolve and sharpen it was blurred.", "",
            "Operations of the first part are carried out in the order in which they are written; see `bgrun export --help`",
            "for which of them work on the full picture and which on the result. The tolerance is that of every device",
            "against float64 arithmetic, as the kernel's tests hold it.", "",
        ]
        for row in OperationRow.all {
            lines += ["## --\(row.name)", "", "\(row.what.prefix(1).uppercased())\(row.what.dropFirst()).", ""]
            lines += ["- **Takes**: \(try row.takes ?? range(of: row.name))", "- **Formula**: \(row.formula)"]
            let link = row.kernel.map { " ([\($0).cl](../../Kernels/Image/\($0).cl))" } ?? ""
            lines += ["- **Tolerance**: \(try row.kernel.map(tolerance) ?? row.tolerance)\(link)", ""]
            let flags = row.flags.map { $0.contains(" ") ? "'\($0)'" : $0 }
            lines += ["`\(flags.joined(separator: " "))`", ""]
            lines += ["![\(row.name), before and after](Operations/\(row.name).jpg)", ""]
        }
        return lines.joined(separator: "\n")
    }

    private func putSample(_ sample: OperationRow.Sample) throws {
        let (width, height) = Self.size
        var pixels = SamplePhotos.pixels(seed: 6, width: width, height: height)
        switch sample {
        case .plain: break
        case .noisy:
            var random = SeededGenerator(seed: 1)
            for i in pixels.indices where i % 4 < 3 {
                let noise = (0..<4).reduce(0) { sum, _ in sum + Int.random(in: -14...14, using: &random) }
                pixels[i] = UInt8(clamping: Int(pixels[i]) + noise)
            }
        case .soft:
            for _ in 0..<2 { pixels = Self.blurred(pixels) }
        }
        let request = EncodeRequest(format: .png, width: width, height: height, layout: .rgbx8)
        let encoder = try CodecRegistry.encoder(for: request)
        try encoder.writeRows(pixels, strideBytes: 4 * width, count: height)
        try encoder.finish { try Data($0).write(to: URL(filePath: place.path + "/\(sample.rawValue).png")) }
    }

    /// Means of 3 x 3 pixels, weighted 1, 2, 1 in both directions.
    private static func blurred(_ pixels: [UInt8]) -> [UInt8] {
        let (width, height) = size
        var out = pixels
        for i in pixels.indices where i % 4 < 3 {
            let (x, y) = (i / 4 % width, i / 4 / width)
            var sum = 8
            for dy in -1...1 {
                for dx in -1...1 {
                    let from = min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)
                    sum += (2 - abs(dx)) * (2 - abs(dy)) * Int(pixels[4 * from + i % 4])
                }
            }
            out[i] = UInt8(sum / 16)
        }
        return out
    }
}
