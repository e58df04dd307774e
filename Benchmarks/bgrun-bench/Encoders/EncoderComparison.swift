import Foundation

/// Brings the programs to the same quality, and times them in turn.
struct EncoderComparison {
    /// A program, and the quality at which its files are as near to their pictures as bgrun's.
    struct Matched {
        var program: EncoderProgram
        var quality: Int
    }

    let scratch: String
    let rounds: Int
    private(set) var table = FigureTable()
    private(set) var absent: [String] = []

    init(scratch: String, rounds: Int) {
        self.scratch = scratch
        self.rounds = rounds
    }

    /// Finds the quality of each program between two neighbouring ones; bgrun, which comes first, has that of the format.
    ///
    /// - Parameters:
    ///   - programs: bgrun first.
    ///   - format: What they write.
    ///   - pictures: Tried without a change of their size.
    /// - Returns: Those that write the format.
    /// - Throws: When bgrun itself fails, or a picture cannot be read.
    mutating func matched(
        _ programs: [EncoderProgram], _ format: EncodedFormat, on pictures: [String]
    ) throws -> [Matched] {
        guard let own = programs.first else { return [] }
        let truth = try pictures.map(LumaPlane.init)
        let goal = try trial(own, format.quality, truth, pictures)
        table.add("\(format.rawValue): bgrun", goal.psnr, "dB")
        table.add("\(format.rawValue): bgrun", goal.bytes, "bytes/picture")
        var matched = [Matched(program: own, quality: format.quality)]
        for program in programs.dropFirst() {
            do {
                var match = QualityMatch(goal: goal.psnr, first: format.quality)
                while let quality = match.next {
                    let made = try trial(program, quality, truth, pictures)
                    match.tried((quality, made.psnr, made.bytes))
                }
                guard let best = match.nearest, let bytes = match.bytesAtGoal else { continue }
                matched.append(Matched(program: program, quality: best.quality))
                table.add("\(format.rawValue): bgrun - \(program.key)", goal.psnr - best.psnr, "dB")
                table.add("\(format.rawValue): bytes at that PSNR, bgrun / \(program.key)", goal.bytes / bytes, "x")
            } catch let error as ProcessError {
                absent.append("\(format.rawValue), \(program.key): \(error)")
            }
        }
        return matched
    }

    /// Times the programs that know the case, and adds the ratios.
    ///
    /// - Parameters:
    ///   - matched: bgrun first.
    ///   - format: What they write.
    ///   - one: What is made of the pictures.
    ///   - pictures: Files.
    ///   - jobs: Pictures at once.
    /// - Throws: When a program fails.
    mutating func time(
        _ matched: [Matched], _ format: EncodedFormat, _ one: EncoderCase, _ pictures: [String], jobs: Int
    ) throws {
        let present = matched.filter { $0.program.cases.contains(one) }
        var runs: [String: [Measurement]] = [:]
        for round in 0..<rounds {
            for index in present.indices {
                let entry = present[(index + round) % present.count]
                let measurement = try run(entry.program, entry.quality, pictures, one, jobs: jobs)
                runs[entry.program.key, default: []].append(measurement)
            }
        }
        guard let own = runs["bgrun"] else { return }
        let name = "\(format.rawValue), \(one.rawValue), \(jobs) at once"
        table.add("\(name): bgrun", median(own.map(\.cpu)) / Double(pictures.count), "s of processor/picture")
        for entry in present.dropFirst() {
            let pairs = Array(zip(own, runs[entry.program.key] ?? []))
            let wall = median(pairs.map { $0.wall / $1.wall })
            table.add("\(name): wall, bgrun / \(entry.program.key)", wall, "x", goal: 0.8)
            table.add("\(name): processor, bgrun / \(entry.program.key)", median(pairs.map { $0.cpu / $1.cpu }), "x")
        }
    }

    /// Mean PSNR and size of the files that a program makes.
    private func trial(
        _ program: EncoderProgram, _ quality: Int, _ truth: [LumaPlane], _ pictures: [String]
    ) throws -> (psnr: Double, bytes: Double) {
        _ = try run(program, quality, pictures, .kept, jobs: 1)
        let made = try FileManager.default.contentsOfDirectory(atPath: out).filter { !$0.hasPrefix(".") }.sorted()
        guard made.count == pictures.count else {
            throw ProcessError(description: "made \(made.count) files of \(pictures.count) pictures")
        }
        var (psnr, bytes) = (0.0, 0.0)
        for (name, plane) in zip(made, truth) {
            let path = out + "/" + name
            psnr += try plane.psnr(of: LumaPlane(path)) / Double(made.count)
            bytes += Double(FileManager.default.contents(atPath: path)?.count ?? 0) / Double(made.count)
        }
        return (psnr, bytes)
    }

    private var out: String { scratch + "/out" }

    private func run(
        _ program: EncoderProgram, _ quality: Int, _ pictures: [String], _ one: EncoderCase, jobs: Int
    ) throws -> Measurement {
        let disk = FileManager.default
        for folder in [out, scratch + "/state"] where disk.fileExists(atPath: folder) {
            try disk.removeItem(atPath: folder)
        }
        try disk.createDirectory(atPath: out, withIntermediateDirectories: true)
        sync()
        let log = scratch + "/log"
        try? disk.removeItem(atPath: log)
        let measurement = try ProcessTree(log: log).run(program.lanes(pictures, out, one, quality, jobs: jobs))
        guard measurement.failures.isEmpty else {
            throw ProcessError(description: readSmallFile(log) ?? "\(program.key) failed")
        }
        return measurement
    }
}
