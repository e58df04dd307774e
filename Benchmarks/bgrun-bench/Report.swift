import Foundation

/// Everything one run of the benchmark found.
struct Report: Codable {
    struct Machine: Codable {
        let processor: String
        let processors: Int
        let kernel: String
    }

    let machine: Machine
    let rounds: Int
    let pictures: Int
    /// Bits per pixel over all pictures; nil when the sizes could not be read.
    let bitsPerPixel: Double?
    let versions: [String: String]
    let cases: [CaseResult]

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    func markdown() -> String {
        var lines = [
            "\(pictures) pictures" + (bitsPerPixel.map { ", \(decimal($0)) bits per pixel" } ?? "")
                + ", \(rounds) rounds, \(machine.processors) cores of \(machine.processor), kernel \(machine.kernel).",
            "Medians; a ratio is the median over the rounds of bgrun's figure divided by the other's.", "",
        ]
        lines += versions.sorted { $0.key < $1.key }.map { "- \($0.key): \($0.value)" }
        for result in cases { lines += [""] + table(result) }
        return lines.joined(separator: "\n") + "\n"
    }

    private func table(_ result: CaseResult) -> [String] {
        var lines = [
            "### \(result.name): \(result.title)", "", "\(result.pictures) pictures.", "",
            "| program | wall s | CPU s | of it the first process | peak MB | wall ratio | CPU ratio |",
            "|---|---|---|---|---|---|---|",
        ]
        let bgrun = result.contestants.first { $0.key == "bgrun" }
        for contestant in result.contestants {
            let remark = contestant.remark.isEmpty ? "" : " (\(contestant.remark))"
            let ratios =
                bgrun.map { bgrun in
                    [
                        CaseResult.ratio(bgrun, to: contestant, .wall),
                        CaseResult.ratio(bgrun, to: contestant, .cpu),
                    ].map { decimal($0, digits: 3) }
                } ?? ["-", "-"]
            let own = median(contestant.runs.map(\.cpuWithoutChildren))
            let cells = [
                contestant.title + remark, decimal(contestant.wall), decimal(contestant.cpu), decimal(own),
                decimal(contestant.peakMB, digits: 0), ratios[0], ratios[1],
            ]
            lines.append("| " + cells.joined(separator: " | ") + " |")
        }
        lines += result.absent.map { "\nNot measured: \($0.key), \($0.reason)" }
        lines += result.verdicts.map { verdict in
            let measured = verdict.measured.map { decimal($0, digits: 3) } ?? "-"
            let outcome = verdict.passes.map { $0 ? "PASS" : "FAIL" } ?? "NOT MEASURED"
            return "\n\(outcome): \(measured) \(verdict.text), target at most \(decimal(verdict.limit))"
        }
        return lines
    }
}
