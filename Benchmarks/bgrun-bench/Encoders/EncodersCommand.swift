import ArgumentParser
import Foundation
import ImageCodecs
import SamplePhotos

/// `bgrun-bench encoders`: batches of AVIF, JPEG XL and WebP by bgrun and by other programs, at the same luma PSNR.
struct EncodersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encoders", abstract: "Time exports to AVIF, JPEG XL and WebP against other programs.",
        discussion: """
            The quality of each program is chosen so that its files come nearest to the luma PSNR of bgrun's, on two small \
            pictures that are not resized; the same quality is then timed, in rounds of all programs in turn. Ratios are of \
            bgrun's figure to the program's, medians over the rounds: below 1 bgrun takes less. Run it from the root \
            of the package.
            """)

    @Option(help: "Number of pictures.")
    var count = 4

    @Option(help: "Timed rounds.")
    var rounds = 3

    @Option(help: "Pictures at once, one thread each: workers of bgrun, processes of the others.")
    var jobs: [Int] = [1, 2]

    @Option(name: .customLong("format"), help: "avif, jxl, webp; by default all.")
    var formats: [EncodedFormat] = EncodedFormat.allCases

    @Option(
        name: .customLong("case"), help: "kept (2 MP to the same size), resized (12 MP to 2048 px); by default both.")
    var cases: [EncoderCase] = EncoderCase.allCases

    @Option(help: "Program to measure; by default the bgrun beside this one.")
    var bgrun: String?

    @Option(help: "Python with pyvips.")
    var python = ".build-peers/venv/bin/python3"

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard count > 0, rounds > 0, jobs.allSatisfy({ $0 > 0 }) else {
            throw ValidationError("--count, --rounds and --jobs take positive numbers")
        }
    }

    func run() throws {
        let scratch = NSTemporaryDirectory() + "/bgrun-bench-\(getpid())"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let bench = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let peers = EncoderPeers(
            bgrun: bgrun ?? (bench as NSString).deletingLastPathComponent + "/bgrun",
            python: URL(fileURLWithPath: python).path, tools: Tools(scratch: scratch), scratch: scratch)
        var comparison = EncoderComparison(scratch: scratch, rounds: rounds)
        let pictures = try Dictionary(
            uniqueKeysWithValues: EncoderCase.allCases.map { ($0, try $0.pictures(count, in: scratch)) })
        let tried = try EncoderCase.pictures(2, width: 960, height: 640, in: scratch + "/tried")
        for format in formats {
            let matched = try comparison.matched(peers.programs(for: format), format, on: tried)
            for one in cases {
                for jobs in jobs { try comparison.time(matched, format, one, pictures[one] ?? [], jobs: jobs) }
            }
        }
        try comparison.table.print(asJSON: json)
        for line in comparison.absent where !json { print("not measured: \(line)") }
    }
}

/// What is made of a camera's JPEGs.
enum EncoderCase: String, ExpressibleByArgument, CaseIterable, Sendable {
    case kept, resized

    /// Upright pictures in sRGB, which every program writes as they are.
    func pictures(_ count: Int, in scratch: String) throws -> [String] {
        let (width, height) = self == .kept ? (1920, 1280) : (4200, 2800)
        return try Self.pictures(count, width: width, height: height, in: "\(scratch)/\(rawValue)")
    }

    static func pictures(_ count: Int, width: Int, height: Int, in folder: String) throws -> [String] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return try (0..<count).map { index in
            let path = "\(folder)/photo-\(index + 1).jpg"
            let pixels = SamplePhotos.pixels(seed: UInt64(index + 1), width: width, height: height)
            let encoder = try CodecRegistry.encoder(
                for: EncodeRequest(format: .jpeg, width: width, height: height, layout: .rgbx8, quality: 92))
            try pixels.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                try encoder.writeRows(base, strideBytes: width * 4, count: height)
            }
            try encoder.finish { try Data($0).write(to: URL(fileURLWithPath: path)) }
            return path
        }
    }
}

/// A format whose encoder takes most of an export.
enum EncodedFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case avif, jxl, webp

    /// The quality of bgrun that the others are matched to.
    var quality: Int {
        switch self {
        case .avif: 60
        case .jxl: 85
        case .webp: 80
        }
    }
}
