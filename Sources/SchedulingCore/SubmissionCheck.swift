package import TaskModel

/// Decides at submission whether a request is admitted.
///
/// The checks run in a fixed order (identifier, resources, limit, immediacy); the first failure gives the code, and
/// all of them are told at once (rule 18).
package struct SubmissionCheck: Sendable {
    /// A yes, and where the request stands.
    package struct Admission: Hashable, Sendable {
        /// Requests that go first; 0 starts now.
        package var position: Int

        package init(position: Int) {
            self.position = position
        }
    }

    /// Reverse-DNS name that every identifier starts with.
    package var program: String
    package var supported: ComputeResources
    /// Why resources that are not supported are missing, as far as was looked.
    package var absences: [ResourceAbsence]
    /// Continued requests under way now.
    package var running: Set<TaskIdentifier>
    package var waiting: Int
    package var maxRunning: Int
    package var maxWaiting: Int

    package init(
        program: String, supported: ComputeResources, absences: [ResourceAbsence] = [],
        running: Set<TaskIdentifier> = [], waiting: Int = 0, maxRunning: Int = 1, maxWaiting: Int = 64
    ) {
        self.program = program
        self.supported = supported
        self.absences = absences
        self.running = running
        self.waiting = waiting
        self.maxRunning = maxRunning
        self.maxWaiting = maxWaiting
    }

    package func check(_ request: ContinuedProcessingRequest) -> Result<Admission, Rejection> {
        let failures = identifierFailures(request) + resourceFailures(request) + roomFailures(request)
        if let first = failures.first {
            return .failure(Rejection(first: first, others: Array(failures.dropFirst())))
        }
        return .success(Admission(position: hasRoom ? 0 : waiting + 1))
    }

    private var hasRoom: Bool { waiting == 0 && running.count < maxRunning }

    private func identifierFailures(_ request: ContinuedProcessingRequest) -> [Rejection.Failure] {
        if let problem = request.identifier.shapeProblem(program: program) {
            return [
                .init(
                    code: .notPermitted, detail: "identifierShape", sentence: problem,
                    fix: "Name the job \(program).NAME with letters, digits, \"-\" and \"_\".")
            ]
        }
        guard running.contains(request.identifier) else { return [] }
        return [
            .init(
                code: .notPermitted, detail: "alreadyRunning", sentence: "\(request.identifier) is running already.",
                fix: "Wait until it has ended, or stop it.")
        ]
    }

    private func resourceFailures(_ request: ContinuedProcessingRequest) -> [Rejection.Failure] {
        let missing = request.requiredResources.subtracting(supported)
        guard !missing.isEmpty else { return [] }
        let known = absences.filter { !$0.resource.isDisjoint(with: missing) }
        guard known.isEmpty else {
            return known.map {
                .init(code: .notPermitted, detail: $0.code, sentence: $0.sentence, fix: $0.fix)
            }
        }
        return [
            .init(
                code: .notPermitted, detail: "unsupportedResources",
                sentence: "This machine does not have what the job requires.",
                fix: "Prefer the resource instead of requiring it.")
        ]
    }

    private func roomFailures(_ request: ContinuedProcessingRequest) -> [Rejection.Failure] {
        switch request.strategy {
        case .fail where !hasRoom:
            [
                .init(
                    code: .immediateRunIneligible, detail: "busy",
                    sentence: "The job cannot start at once: \(running.count) running, \(waiting) waiting.",
                    fix: "Let it queue, or stop what is running.")
            ]
        case .queue where !hasRoom && waiting >= maxWaiting:
            [
                .init(
                    code: .tooManyPendingTaskRequests, detail: "queueFull",
                    sentence: "\(waiting) requests are waiting, which is the limit.",
                    fix: "Submit again when some of them have started.")
            ]
        case .fail, .queue:
            []
        }
    }
}
