import ArgumentParser
import CBenchProcess
import Foundation
import ImageCodecs
import SamplePhotos

/// `bgrun-bench compare`: bgrun against other programs, interleaved in one run.
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Time bgrun export against other programs.",
        discussion: "Run it from the root of the package, on a machine that does nothing else.")

    @Option(help: "Folder with JPEGs; by default sample photographs are made.")
    var photos: String?

    @Option(help: "Number of pictures.")
    var files = 24

    @Option(help: "Timed rounds.")
    var rounds = 5

    @Option(
        name: .customLong("case"),
        help: "Cases to run (\(BenchmarkCase.all.map(\.name).joined(separator: ", "))); by default all.")
    var cases: [String] = []

    @Option(help: "Program to measure; by default the bgrun beside this one.")
    var bgrun: String?

    @Option(help: "Leave out programs with these names.")
    var without: [String] = []

    @Option(help: "Processors to use.")
    var processors = 2

    @Option(help: "Folder with the Python scripts.")
    var scripts = "Benchmarks/peers"

    @Option(help: "Python with pyvips, OpenCV and Pillow.")
    var python = ".build-peers/venv/bin/python3"

    @Option(help: "Python with Pillow-SIMD.")
    var pythonSimd = ".build-peers/simd/bin/python3"

    @Option(help: "Folder for outputs, journals and logs; by default a temporary one.")
    var work: String?

    @Option(help: "Write the figures as JSON.")
    var json: String?

    @Option(help: "Write the table as Markdown; it is printed anyway.")
    var markdown: String?

    func validate() throws {
        guard files > 0, rounds > 0, processors > 0 else {
            throw ValidationError("--files, --rounds and --processors take positive numbers")
        }
        for name in cases where BenchmarkCase.named(name) == nil { throw ValidationError("no case is called \(name)") }
    }

    func run() throws {
        let used = bench_use_processors(Int32(processors))
        guard used > 0 else { throw ProcessError(description: "cannot choose processors: error \(-used)") }
        let scratch = work ?? NSTemporaryDirectory() + "/bgrun-bench-\(getpid())"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        defer { if work == nil { try? FileManager.default.removeItem(atPath: scratch) } }
        let pictures = try pictures(scratch: scratch)
        let locations = try locations(scratch: scratch)
        let tools = Tools(scratch: scratch)
        let comparison = Comparison(
            files: pictures, rounds: rounds,
            contestants: Contestants(
                locations: locations, excluded: Set(without), locate: Tools.locate,
                moduleVersion: tools.moduleVersion),
            scratch: scratch, note: { FileHandle.standardError.write(Data(($0 + "\n").utf8)) })
        let chosen = cases.isEmpty ? BenchmarkCase.all : cases.compactMap(BenchmarkCase.named)
        let results = try chosen.map(comparison.run)
        let report = Report(
            machine: tools.machine(processors: Int(used)), rounds: rounds, pictures: pictures.count,
            bitsPerPixel: Self.bitsPerPixel(pictures), versions: tools.versions(), cases: results)
        print(report.markdown(), terminator: "")
        if let json { try report.json().write(to: URL(fileURLWithPath: json)) }
        if let markdown { try Data(report.markdown().utf8).write(to: URL(fileURLWithPath: markdown)) }
    }

    private func pictures(scratch: String) throws -> [String] {
        guard let photos else {
            return try SamplePhotos.write(
                count: files, width: 6000, height: 4000, seed: 1, to: scratch + "/photos"
            ).map(\.path)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: photos).sorted()
        let found = names.filter { $0.lowercased().hasSuffix(".jpg") || $0.lowercased().hasSuffix(".jpeg") }
        guard !found.isEmpty else { throw ProcessError(description: "\(photos) has no JPEGs") }
        let folder = URL(fileURLWithPath: photos).path
        return found.prefix(files).map { folder + "/" + $0 }
    }

    private func locations(scratch: String) throws -> ContestantLocations {
        let bench = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let profile = scratch + "/srgb.icc"
        try Data(CameraProfile.srgb.data()).write(to: URL(fileURLWithPath: profile))
        return ContestantLocations(
            bgrun: bgrun ?? (bench as NSString).deletingLastPathComponent + "/bgrun", bench: bench,
            scripts: URL(fileURLWithPath: scripts).path, python: URL(fileURLWithPath: python).path,
            pythonSIMD: URL(fileURLWithPath: pythonSimd).path, profile: profile, scratch: scratch)
    }

    private static func bitsPerPixel(_ files: [String]) -> Double? {
        var (bits, pixels) = (0, 0)
        for file in files {
            guard let data = FileManager.default.contents(atPath: file),
                let header = data.withUnsafeBytes({ bytes in
                    try? CodecRegistry.decoder(for: bytes, limits: DecodeLimits()).header
                })
            else { return nil }
            bits += data.count * 8
            pixels += header.width * header.height
        }
        return Double(bits) / Double(pixels)
    }
}
