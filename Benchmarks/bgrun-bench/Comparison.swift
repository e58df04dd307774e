import Foundation
import SamplePhotos

/// Times the programs of one case in turn, round after round, so that a slow minute of the machine hits all of them.
struct Comparison {
    let files: [String]
    let rounds: Int
    let contestants: Contestants
    /// Folder for outputs, journals and logs.
    let scratch: String
    let note: (String) -> Void

    func run(_ work: BenchmarkCase) throws -> CaseResult {
        let files: [String]
        do {
            files = try pictures(for: work)
        } catch {
            let reason = AbsentContestant(key: "inputs", reason: "\(error)")
            return CaseResult(work: work, pictures: 0, contestants: [], absent: [reason])
        }
        var (present, absent) = contestants.find(for: work)
        var peaks: [String: Int] = [:]
        // The first run of each fills the caches, shows what it makes and how much memory it takes; it is not timed,
        // because looking at memory costs time.
        for contestant in present {
            note("\(work.name): first run of \(contestant.key)")
            let first = try measure(contestant, work, files, samplingMemory: true)
            if let problem = first.problem {
                absent.append(AbsentContestant(key: contestant.key, reason: problem))
            } else {
                peaks[contestant.key] = first.measurement.peakBytes
            }
        }
        present.removeAll { peaks[$0.key] == nil }
        var measurements: [String: [Measurement]] = [:]
        for round in 0..<rounds {
            note("\(work.name): round \(round + 1) of \(rounds)")
            // Every program follows every other one equally often.
            let order = present.indices.map { present[($0 + round) % present.count] }
            for contestant in order {
                let run = try measure(contestant, work, files, samplingMemory: false)
                measurements[contestant.key, default: []].append(run.measurement)
            }
        }
        let results = present.map { contestant in
            ContestantResult(
                contestant, runs: measurements[contestant.key] ?? [], peakBytes: peaks[contestant.key] ?? 0)
        }
        return CaseResult(work: work, pictures: files.count, contestants: results, absent: absent)
    }

    private func pictures(for work: BenchmarkCase) throws -> [String] {
        if let input = work.input { return try converted(Array(files.prefix(work.fileLimit)), work.name, input) }
        guard work.isSmall else { return Array(files.prefix(work.fileLimit)) }
        return try SamplePhotos.write(count: 1, width: 64, height: 48, seed: 1, to: scratch + "/small").map(\.path)
    }

    /// The photographs as files of another kind.
    private func converted(_ files: [String], _ name: String, _ input: BenchmarkCase.Input) throws -> [String] {
        guard let vips = contestants.locate("vips") else {
            throw ProcessError(description: "libvips-tools is not installed, which makes the inputs of \(name)")
        }
        let folder = scratch + "/inputs"
        let disk = FileManager.default
        // One kind at a time, as they are large.
        if disk.fileExists(atPath: folder) { try disk.removeItem(atPath: folder) }
        try disk.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let made = files.map { file in
            let stem = ((file as NSString).lastPathComponent as NSString).deletingPathExtension
            return "\(folder)/\(stem).\(input.suffix)"
        }
        let calls = zip(files, made).map { file, made in
            Invocation(program: vips, arguments: [input.operation, file, made + input.saving] + input.arguments)
        }
        let log = "\(scratch)/\(name)-inputs.log"
        let status = try ProcessTree(log: log).run([calls], samplingMemory: false).failures.first
        if let status {
            throw ProcessError(description: "vips ended with status \(status), see \(log)")
        }
        return made
    }

    private func measure(
        _ contestant: Contestant, _ work: BenchmarkCase, _ files: [String], samplingMemory: Bool
    ) throws -> (measurement: Measurement, problem: String?) {
        let out = scratch + "/out"
        let log = scratch + "/\(work.name)-\(contestant.key).log"
        let disk = FileManager.default
        if disk.fileExists(atPath: out) { try disk.removeItem(atPath: out) }
        if disk.fileExists(atPath: scratch + "/state") { try disk.removeItem(atPath: scratch + "/state") }
        try disk.createDirectory(atPath: out, withIntermediateDirectories: true)
        // What the run before left to write back is not this one's work.
        sync()
        let tree = try ProcessTree(log: log)
        let measurement = try tree.run(contestant.lanes(files, out), samplingMemory: samplingMemory)
        if let status = measurement.failures.first {
            return (measurement, "ended with status \(status), see \(log)")
        }
        let problem =
            samplingMemory
            ? OutputCheck.problem(in: out, pictures: files.count, longEdges: work.longEdges) : nil
        return (measurement, problem)
    }
}
