import ScheduleSimulation
import SchedulingCore
import TaskModel

/// What a submission to this machine would lead to now; nothing is submitted (rule 28).
struct SubmissionPreview {
    let described: DescribedRequest
    let machine: ThisMachine
    let preview: Scheduler.Preview

    init(_ described: DescribedRequest) {
        self.described = described
        machine = ThisMachine.look(for: described.request)
        preview = machine.scheduler(described.manifest).preview(
            described.request, program: described.program, at: .zero)
    }

    var status: ExitStatus {
        switch preview.answer {
        case .success: .done
        case .failure(let rejection): .of(rejection)
        }
    }

    func moment(_ time: Duration) -> WallTime { machine.now.advanced(by: time) }

    // MARK: Text

    var text: String {
        let notice = machine.offer.standsForGPU ? [ComputeOffer.testNotice] : []
        return (notice + lines).joined(separator: "\n") + "\n"
    }

    private var lines: [String] {
        let request = described.request
        let name = "\(request.identifier) (\(request.kind.rawValue))"
        switch preview.answer {
        case .failure(let rejection):
            let failures = rejection.failures.flatMap {
                ["  \($0.detail): \($0.sentence)", "    what helps: \($0.fix)"]
            }
            return ["\(name) would be rejected: \(rejection.code.rawValue)"] + failures + ["Nothing was submitted."]
        case .success(let admission):
            var lines = ["\(name) would be admitted."]
            if admission.isRunning {
                lines.append("It would start at once.")
            } else {
                lines.append("It would wait for:")
                lines += ReasonText.lines(admission.reasons, now: .zero, moment: moment)
                let start = preview.earliestStart.map { ReasonText.when($0, now: .zero, moment: moment) }
                lines.append("Earliest start: \(start ?? "not known").")
            }
            lines.append("It would run \(place), \(terms).")
            if let estimate { lines.append(estimate) }
            lines += admission.warnings.map { "Note: \($0.sentence) \($0.fix)" }
            return lines + ["Nothing was submitted."]
        }
    }

    private var place: String { preview.device.map { "on \($0)" } ?? "on the CPU lane" }

    private var terms: String {
        let terms = preview.terms
        return "in the \(terms.priority.rawValue): chunks of \(Int(terms.chunkTarget / .milliseconds(1))) ms, "
            + "\(terms.concurrency) at once, \(Int((terms.dutyCycle * 100).rounded())) % of the time"
    }

    private var estimate: String? {
        guard let chunks = preview.expectedChunks, let seconds = preview.secondsOfWork else { return nil }
        let (least, most) = (Duration.seconds(seconds.lowerBound), Duration.seconds(seconds.upperBound))
        let time =
            TimeText.text(least) == TimeText.text(most)
            ? TimeText.text(least) : "\(TimeText.text(least)) to \(TimeText.text(most))"
        return "Expected: \(chunks) chunks, \(time) of work."
    }

    // MARK: JSON

    struct Document: Encodable {
        struct Terms: Encodable {
            let priority: String
            let chunkSeconds, dutyCycle: Double
            let concurrency: Int
        }

        let version = 1
        let program, identifier, kind: String
        let admitted: Bool
        /// nil when it would be admitted.
        let code: String?
        let failures: [Rejection.Failure]
        let startsNow: Bool
        /// Requests of its kind before it.
        let position: Int?
        let reasons: [ReasonDocument]
        let warnings: [Diagnostic]
        /// nil for the CPU lane.
        let device: String?
        let terms: Terms
        let expectedChunks: Int?
        /// Least and most, without the wait.
        let secondsOfWork: [Double]?
        /// Seconds from now.
        let earliestStart: Double?
    }

    var document: Document {
        var admission: Scheduler.Admission?
        var rejection: Rejection?
        switch preview.answer {
        case .success(let value): admission = value
        case .failure(let value): rejection = value
        }
        let terms = preview.terms
        return Document(
            program: described.program, identifier: described.request.identifier.rawValue,
            kind: described.request.kind.rawValue, admitted: admission != nil, code: rejection?.code.rawValue,
            failures: rejection?.failures ?? [], startsNow: admission?.isRunning ?? false,
            position: admission?.position,
            reasons: (admission?.reasons ?? []).map { ReasonDocument($0, origin: .zero) },
            warnings: admission?.warnings ?? [], device: preview.device,
            terms: .init(
                priority: terms.priority.rawValue, chunkSeconds: terms.chunkTarget.inSeconds,
                dutyCycle: terms.dutyCycle, concurrency: terms.concurrency),
            expectedChunks: preview.expectedChunks,
            secondsOfWork: preview.secondsOfWork.map { [$0.lowerBound, $0.upperBound] },
            earliestStart: preview.earliestStart?.inSeconds)
    }
}
