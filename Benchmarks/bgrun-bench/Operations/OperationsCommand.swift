import ArgumentParser
import Foundation

/// `bgrun-bench operations`: image operations of bgrun and of other programs, on noisy and blurred pictures made from clean ones.
struct OperationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operations", abstract: "Time denoising, local contrast and deconvolution against other programs.",
        discussion: """
            Each program is one process with one thread and the same pictures; rounds are interleaved. Ratios are of \
            bgrun's time to the program's, medians over the rounds: below 1 bgrun is faster. Decibels are to the clean \
            pictures. Run it from the root of the package.
            """)

    @Option(help: "Number of pictures.")
    var count = 3

    @Option(help: "Size of the pictures.")
    var size = PixelSize(width: 3000, height: 2000)

    @Option(help: "Timed rounds.")
    var rounds = 3

    @Option(help: "Deviation of the noise in levels of 255.")
    var sigma = 10.0

    @Option(help: "Deviation of the blur in pixels.")
    var blur = 0.8

    @Option(name: .customLong("case"), help: "denoise, local-contrast, deconvolve; by default all.")
    var cases: [String] = []

    @Option(help: "Program to measure; by default the bgrun beside this one.")
    var bgrun: String?

    @Option(help: "Folder with the Python scripts.")
    var scripts = "Benchmarks/peers"

    @Option(help: "Python with OpenCV.")
    var python = ".build-peers/venv/bin/python3"

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard count > 0, rounds > 0, sigma > 0, blur > 0 else {
            throw ValidationError("--count, --rounds, --sigma and --blur take positive numbers")
        }
        let known = OperationCase.all(sigma: sigma, blur: blur).map(\.name)
        for name in cases where !known.contains(name) { throw ValidationError("no case is called \(name)") }
    }

    func run() throws {
        let scratch = NSTemporaryDirectory() + "/bgrun-bench-\(getpid())"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let tools = try locate(scratch: scratch)
        let pictures = DamagedPictures(count: count, width: size.width, height: size.height)
        var table = FigureTable()
        for work in OperationCase.all(sigma: sigma, blur: blur) where cases.isEmpty || cases.contains(work.name) {
            try compare(work, pictures, tools, &table)
        }
        try table.print(asJSON: json)
    }

    private func locate(scratch: String) throws -> OperationTools {
        let bench = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let python = URL(fileURLWithPath: python).path
        return OperationTools(
            bgrun: bgrun ?? (bench as NSString).deletingLastPathComponent + "/bgrun",
            scripts: URL(fileURLWithPath: scripts).path, python: python,
            hasOpenCV: Tools(scratch: scratch).moduleVersion(python, "cv2") != nil,
            imageMagick: Tools.locate("mogrify-im6.q16") ?? Tools.locate("mogrify"),
            graphicsMagick: Tools.locate("gm"), darktable: Tools.locate("darktable-cli"), scratch: scratch)
    }

    private func compare(
        _ work: OperationCase, _ pictures: DamagedPictures, _ tools: OperationTools, _ table: inout FigureTable
    ) throws {
        let files = try pictures.write(work.damage, to: tools.scratch + "/" + work.name)
        let out = tools.scratch + "/out"
        let made = files.map { out + "/" + ($0 as NSString).lastPathComponent }
        var (present, absent) = try work.contestants(tools)
        if work.hasTruth { table.add("\(work.name): input", try pictures.psnr(of: files), "dB") }
        var runs: [String: [Measurement]] = [:]
        // Round 0 fills the caches and shows what each makes.
        for round in 0...rounds {
            for contestant in present {
                try? FileManager.default.removeItem(atPath: out)
                try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
                let log = tools.scratch + "/log"
                let measurement = try ProcessTree(log: log).run(contestant.lanes(files, out))
                guard measurement.failures.isEmpty else {
                    absent.append(AbsentContestant(key: contestant.key, reason: readSmallFile(log) ?? "it failed"))
                    present.removeAll { $0.key == contestant.key }
                    continue
                }
                if round > 0 {
                    runs[contestant.key, default: []].append(measurement)
                } else if work.hasTruth {
                    table.add("\(work.name): \(contestant.key)", try pictures.psnr(of: made), "dB")
                }
            }
        }
        guard let own = runs["bgrun"] else {
            throw ProcessError(description: absent.map { "\($0.key): \($0.reason)" }.joined(separator: "; "))
        }
        table.add("\(work.name): bgrun", median(own.map(\.cpu)) / Double(files.count), "s of processor/picture")
        for contestant in present.dropFirst() {
            let pairs = zip(own, runs[contestant.key] ?? [])
            table.add(
                "\(work.name): processor, bgrun / \(contestant.key)", median(pairs.map { $0.cpu / $1.cpu }), "x",
                goal: 1 / 1.5)
            table.add("\(work.name): wall, bgrun / \(contestant.key)", median(pairs.map { $0.wall / $1.wall }), "x")
        }
        for one in absent { print("\(work.name): not measured: \(one.key): \(one.reason)") }
    }
}
