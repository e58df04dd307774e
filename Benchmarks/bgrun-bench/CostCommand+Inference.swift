import Foundation
import Inference
import InferenceData

extension CostCommand {
    /// What chunks, checkpoints, workers and results of `bgrun infer` take beyond the same computation in a plain loop.
    ///
    /// Both run over a part of the array and over the whole of it; the differences leave out what each takes once, e.g.
    /// to load the model.
    func measureChunks(_ service: BenchService, _ model: String, _ table: inout FigureTable) throws {
        let part = service.folder + "/part.npy"
        try Self.write(part, firstQuarterOf: options.photos)
        let loop = [Executables.own, "inference-loop", model]
        let command = [service.bgrun, "infer", model]
        var seconds: [[[Double]]] = [[[], []], [[], []]]
        // The first of each fills caches.
        for round in 0...rounds {
            for turn in 0..<4 {
                let place = (turn + round) % 4
                let (isBGRun, isWhole) = (place % 2 == 0, place / 2 == 0)
                let out = service.folder + "/out"
                // What is left is skipped, whose time then stands out.
                _ = try? FileManager.default.removeItem(atPath: out)
                try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
                let words =
                    (isBGRun ? command : loop) + [isWhole ? options.photos : part, "--out", out]
                    + (isBGRun ? ["--in-process", "--progress", "none"] : [])
                let before = ProcessUse.endedChildrenSeconds
                let status = try SessionProgram(words, environment: service.environment).wait()
                guard status == 0 else {
                    throw ProcessError(description: "\(words.joined(separator: " ")): status \(status)")
                }
                guard round > 0 else { continue }
                seconds[isBGRun ? 0 : 1][isWhole ? 0 : 1].append(ProcessUse.endedChildrenSeconds - before)
            }
        }
        let names = ["infer --in-process", "the same in a plain loop"]
        for (name, both) in zip(names, seconds) {
            table.add("\(name): processor time", median(both[0]), "s")
            table.add("\(name): of it once", median(both[1]) * 4 / 3 - median(both[0]) / 3, "s")
        }
        let growth = seconds.map { zip($0[0], $0[1]).map { $0 - $1 } }
        table.add(
            "chunks and checkpoints, median of \(rounds) rounds",
            (median(zip(growth[0], growth[1]).map { $0 / $1 }) - 1) * 100, "% more", goal: 1)
    }

    private static func write(_ path: String, firstQuarterOf array: String) throws {
        let rows = try withOpenFile(array) { file throws(DataError) in
            let file = try NPYFile(file)
            return try file.rows(0..<(file.rowCount / 4))
        }
        try Data(try NPYAssembly.bytes(of: rows)).write(to: URL(filePath: path))
    }
}
