import Foundation
import SchedulingCore
import TaskModel

/// What a program asks of its scheduler.
extension TaskHost {
    func configure(_ manifest: Manifest) {
        perform { state, now in
            state.own.manifest = manifest
            state.own.manifestProblem = nil
            state.add(state.scheduler.addProgram(manifest.program, usesHandlers: true, at: now))
            // A known program gets a new table, and keeps the handlers that it still permits.
            for (pattern, handler) in state.own.handlers
            where state.scheduler.register(pattern, for: handler.kind, program: state.program) != nil {
                state.own.handlers[pattern] = nil
            }
        }
    }

    func hasNoManifest(_ problem: Diagnostic) {
        perform { state, _ in
            state.own.manifestProblem = problem
            state.note(problem)
        }
    }

    func register(_ identifier: String, _ handler: LaunchHandler) -> Bool {
        let (problem, isStrict) = perform { state, _ -> (Diagnostic?, Bool) in
            let pattern = IdentifierPattern(identifier)
            let problem =
                state.own.manifestProblem
                ?? state.scheduler.register(pattern, for: handler.kind, program: state.program)
            if let problem {
                state.note(problem, identifier: identifier)
            } else {
                state.own.handlers[pattern] = handler
            }
            return (problem, state.own.isStrict)
        }
        // Strict mode is chosen to find mistakes of the program, by a trap where each is made.
        if isStrict, let problem, problem.code == "registeredTwice" {
            fatalError("\(problem.code): \(problem.sentence) \(problem.fix)")
        }
        return problem == nil
    }

    func activate() -> [BGDiagnostic] {
        perform { state, _ in
            let warnings = state.scheduler.activate(program: state.program)
            for warning in warnings { state.note(warning) }
            return warnings.map { BGDiagnostic($0) }
        }
    }

    // MARK: Submission

    func submit(_ value: RequestValue) -> Result<BGTaskScheduler.Submission, BGTaskScheduler.Error> {
        prepare(for: value.task)
        let identifier = value.task.identifier.rawValue
        return perform { state, now in
            if let rejection = state.rejection(of: value, at: now) {
                let error = BGTaskScheduler.Error(rejection)
                state.tell(.rejected(error), identifier: identifier)
                return .failure(error)
            }
            let submission = state.scheduler.submit(value.task, program: state.program, at: now)
            switch submission.answer {
            case .success(let admission):
                state.own.protection[admission.id] = value.protectionType
                let answer = BGTaskScheduler.Submission(
                    admission, identifier: identifier, wallOffset: state.wallOffset)
                state.tell(.submitted(answer), job: admission.id, identifier: identifier)
                for warning in admission.warnings { state.note(warning, job: admission.id, identifier: identifier) }
                state.add(submission.actions)
                return .success(answer)
            case .failure(let rejection):
                let error = BGTaskScheduler.Error(rejection)
                state.tell(.rejected(error), identifier: identifier)
                state.add(submission.actions)
                return .failure(error)
            }
        }
    }

    func preview(_ value: RequestValue) -> BGTaskScheduler.Preview {
        prepare(for: value.task)
        return perform { state, now in
            let preview = state.scheduler.preview(value.task, program: state.program, at: now)
            let answer: Result<BGTaskScheduler.Submission, BGTaskScheduler.Error>
            if let rejection = state.rejection(of: value, at: now) {
                answer = .failure(BGTaskScheduler.Error(rejection))
            } else {
                let (identifier, offset) = (value.task.identifier.rawValue, state.wallOffset)
                answer = preview.answer
                    .map { BGTaskScheduler.Submission($0, identifier: identifier, wallOffset: offset) }
                    .mapError { BGTaskScheduler.Error($0) }
            }
            return BGTaskScheduler.Preview(
                answer: answer, terms: BGRunTerms(preview.terms), device: preview.device,
                expectedChunks: preview.expectedChunks, secondsOfWork: preview.secondsOfWork,
                earliestStart: preview.earliestStart.map { Date($0 + state.wallOffset) })
        }
    }

    func cancel(_ identifier: String) {
        perform { state, now in
            state.add(state.scheduler.cancel(TaskIdentifier(identifier), program: state.program, at: now))
        }
    }

    func cancelAll() {
        perform { state, now in state.add(state.scheduler.cancelAll(program: state.program, at: now)) }
    }

    func pending() -> [RequestValue] {
        read { state in
            state.scheduler.jobs(program: state.program).filter { $0.state != .ended }.map {
                RequestValue(task: $0.request, protectionType: state.own.protection[$0.id])
            }
        }
    }

    // MARK: Jobs

    func jobs() -> [BGTaskScheduler.Job] {
        read { state in state.scheduler.jobs(program: state.program).compactMap { state.summary($0.id) } }
    }

    func why(_ identifier: String) -> [BGWaitReason] {
        read { state in state.job(identifier).map(state.reasons) ?? [] }
    }

    /// Puts an event to the job of an identifier.
    ///
    /// - Returns: Whether there is one.
    func ask(_ identifier: String, _ event: (inout ProgramHostState, JobID, Duration) -> Void) -> Bool {
        perform { state, now in
            guard let job = state.job(identifier) else { return false }
            event(&state, job, now)
            return true
        }
    }
}

extension ProgramHostState {
    /// What this host has to say against a request, together with what the scheduler has; nil when the host has nothing.
    func rejection(of value: RequestValue, at now: Duration) -> Rejection? {
        if let problem = own.manifestProblem {
            return Rejection(
                first: .init(
                    code: .notPermitted, detail: problem.code, sentence: problem.sentence, fix: problem.fix))
        }
        guard let own = researchFailure(value) else { return nil }
        guard case .failure(let rejection) = scheduler.preview(value.task, program: program, at: now).answer else {
            return Rejection(first: own)
        }
        // Grants come before limits and immediacy, and after all else (rule 18).
        var failures = rejection.failures
        let place = failures.firstIndex { $0.code == .tooManyPendingTaskRequests || $0.code == .immediateRunIneligible }
        failures.insert(own, at: place ?? failures.endIndex)
        return Rejection(first: failures[0], others: Array(failures.dropFirst()))
    }

    /// The scheduler knows research requests as processing.
    private func researchFailure(_ value: RequestValue) -> Rejection.Failure? {
        if value.protectionType != nil, own.manifest?.grantsHealthResearch != true {
            return .init(
                code: .notPermitted, detail: "grantMissing",
                sentence: "The manifest of \(program) does not grant health research.",
                fix: "Add \"healthResearch\" to the manifest's grants.")
        }
        let pattern = scheduler.handler(for: value.task.identifier, program: program)
        guard value.protectionType == nil, let pattern, own.handlers[pattern]?.takesResearchOnly == true else {
            return nil
        }
        return .init(
            code: .notPermitted, detail: "handlerMismatch",
            sentence: "The handler of \"\(value.task.identifier)\" takes research work, and this is other work.",
            fix: "Submit a BGHealthResearchTaskRequest, or register a handler for BGProcessingTask.")
    }
}
