import ChunkedCompute
import Glibc
import ImageExport
import TaskStore

/// The plan of an export, shown instead of carried out.
struct DryRun {
    var plan: ExportPlan
    var flags: JobFlags
    /// Bytes of input per second of earlier jobs on this machine.
    var rates: ClosedRange<Double>?

    private struct Shown: Encodable {
        struct Item: Encodable {
            var input: String
            var outputs: [String]
            /// Why others are not made.
            var missing: [String]?
        }

        var inputs: Int
        var inputBytes: Int64
        /// nil where nothing is known.
        var estimatedSeconds: [Double]?
        var items: [Item]
        var settled: [InputRecord]
        var passedOver: [InputRecord]
    }

    /// Bytes of input that one worker does in a second, where nothing was measured yet: from full-size re-encoding to
    /// large pictures resized.
    private static let bytesPerSecond = 8e6...60e6

    func show() -> ExitStatus {
        let text: String
        if flags.json {
            let items = plan.items.map {
                Shown.Item(
                    input: $0.input.path, outputs: $0.outputs.map(\.path),
                    missing: $0.missing.isEmpty ? nil : $0.missing.map(\.reason))
            }
            text = JSONText.encode(
                Shown(
                    inputs: plan.inputCount, inputBytes: plan.inputBytes,
                    estimatedSeconds: estimate.map { [$0.lowerBound, $0.upperBound] }, items: Array(items),
                    settled: Array(plan.settled), passedOver: plan.passedOver))
        } else {
            text = lines.joined(separator: "\n")
        }
        let trouble = StandardOutput.write(text + "\n")
        if trouble != 0 {
            StandardError.write("bgrun: the plan could not be written: \(String(cString: strerror(trouble)))\n")
            return .writeFailed
        }
        let isSound = plan.items.allSatisfy(\.missing.isEmpty) && !plan.settled.contains(where: \.isFailure)
        return isSound ? .done : .doneWithFailures
    }

    /// nil where a model does the work, which may take any time, and has not worked here yet.
    private var estimate: ClosedRange<Double>? {
        let busy = Double(max(1, min(flags.workerCount, plan.items.count)))
        let bytes = Double(plan.inputBytes)
        let encoding = encodingSeconds / busy
        // Rates of whole jobs have an encoder in them, though not always that of this one.
        if let rates {
            return max(bytes / rates.upperBound, encoding / 2)...max(bytes / rates.lowerBound, encoding * 2)
        }
        guard !plan.isEnhancement else { return nil }
        let (slowest, fastest) = (Self.bytesPerSecond.lowerBound * busy, Self.bytesPerSecond.upperBound * busy)
        return bytes / fastest + encoding / 2...bytes / slowest + encoding * 2
    }

    /// What slow encoders take of it.
    private var encodingSeconds: Double {
        plan.items.reduce(0) { sum, item in plan.encodingSeconds(of: item).reduce(sum, +) }
    }

    private var lines: [String] {
        var lines: [String] = []
        for item in plan.items {
            for output in item.outputs {
                lines.append("\(item.input.path) -> \(output.path)\(output.mayReplace ? " (replaces)" : "")")
            }
            lines += item.missing.map {
                "\(item.input.path): \(InputRecord.Status.failed.rawValue), \($0.reason)"
            }
        }
        for record in Array(plan.settled) + plan.passedOver {
            lines.append("\(record.input): \(record.status.rawValue), \(record.reason ?? "")")
        }
        lines = lines.map(\.onOneLine)
        let megabytes = (Double(plan.inputBytes) / 1e5).rounded() / 10
        let time =
            estimate.map { "roughly \(ProgressDisplay.text($0)) with \(flags.workerCount) workers" }
            ?? "in a time that is not known before the model has worked here"
        lines.append(
            "\(plan.items.count) of \(plan.inputCount) inputs to do, \(megabytes) MB, \(time). Nothing was changed.")
        return lines
    }
}

extension JobLedger {
    var total: Int { counts.good + counts.damaged + counts.failed + counts.current + counts.notPictures }
}
