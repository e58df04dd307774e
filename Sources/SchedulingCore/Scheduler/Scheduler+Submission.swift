package import TaskModel

extension Scheduler {
    /// A yes, and where the request stands.
    package struct Admission: Hashable, Sendable {
        package var id: JobID
        /// It runs already, started by this submission.
        package var isRunning: Bool
        /// Requests of its class before it (rule 24).
        package var position: Int
        /// What it waits for; empty when it runs.
        package var reasons: [WaitReason]
        /// What was noticed and let pass.
        package var warnings: [Diagnostic]
        /// The waiting request whose place it took.
        package var replaced: JobID?
        /// The same submission had been made before; nothing was done (rule 27).
        package var isRepeat: Bool
    }

    package struct Submission: Sendable {
        package var answer: Result<Admission, Rejection>
        package var actions: [SchedulerAction]
    }

    /// What a submission would lead to, changing nothing (rule 28).
    package struct Preview: Sendable {
        package var answer: Result<Admission, Rejection>
        /// The terms it would run by now.
        package var terms: RunTerms
        /// Identity of the device it would run on now; nil for the CPU lane.
        package var device: String?
        /// Chunks of the expected work by those terms; nil when no work was stated.
        package var expectedChunks: Int?
        /// Seconds that the expected work would take by those terms, without the wait.
        package var secondsOfWork: ClosedRange<Double>?
        /// Earliest start, on the scheduler's clock; nil when that is not known.
        package var earliestStart: Duration?
    }

    /// A program asks for work.
    package mutating func submit(_ request: TaskRequest, program: String, at time: Duration) -> Submission {
        advance(to: time)
        let before = catchUp() + schedule()
        if let key = request.requestKey, let id = programs[program]?.requestKeys[key] {
            return Submission(answer: .success(admission(of: id, isRepeat: true)), actions: before)
        }
        let failures = failures(of: request, program: program) + turnFailures(of: request)
        if let first = failures.first {
            let rejection = Rejection(first: first, others: Array(failures.dropFirst()))
            return Submission(answer: .failure(rejection), actions: before)
        }
        var actions = before
        let replaced = programs[program]?.waiting[request.identifier]
        if let replaced { actions += endWaiting(replaced, .stopped(.replaced)) }
        let id = JobID(nextID)
        nextID += 1
        add(request, id: id, program: program, submitted: now, attempts: 0)
        actions += schedule()
        var admission = admission(of: id, isRepeat: false)
        admission.replaced = replaced
        admission.warnings = warnings(for: request)
        return Submission(answer: .success(admission), actions: actions)
    }

    package func preview(_ request: TaskRequest, program: String, at time: Duration) -> Preview {
        // Trying it on a copy gives the same answer by construction.
        var copy = self
        let submission = copy.submit(request, program: program, at: time)
        var foreground = request.kind == .continued && !request.initiator.isAutomatic
        var device: String?
        var start: Duration?
        if case .success(let admission) = submission.answer {
            if let run = copy.running[admission.id] {
                foreground = run.isForeground
                device = run.device
                start = copy.now
            } else {
                start = copy.earliestStart(admission.reasons)
                device = (try? copy.placement(of: request).get())?.device
            }
        }
        let terms = copy.terms(isForeground: foreground, device: device)
        let effort = terms.dutyCycle * Double(terms.concurrency) / Double(settings.cores)
        return Preview(
            answer: submission.answer, terms: terms, device: device,
            expectedChunks: request.expectedWork.map { max(1, Int(($0 / terms.chunkTarget).rounded(.up))) },
            secondsOfWork: request.expectedWork.map { $0.inSeconds...($0.inSeconds / effort) }, earliestStart: start)
    }

    /// Takes up a request that was stored by an earlier scheduler, as it was.
    package mutating func adopt(
        _ request: TaskRequest, id: JobID, program: String, submitted: Duration, attempts: Int, at time: Duration
    ) -> [SchedulerAction] {
        advance(to: time)
        nextID = max(nextID, id.rawValue + 1)
        var actions: [SchedulerAction] = []
        if let other = programs[program]?.waiting[request.identifier] {
            // One was running when the other was submitted; the later request stands.
            guard other < id else {
                return keepEnded(
                    EndedEntry(
                        id: id, program: program, request: request, outcome: .stopped(.replaced), submitted: submitted,
                        ended: now, isResumable: attempts > 0, dismissAt: nil))
            }
            actions = endWaiting(other, .stopped(.replaced))
        }
        add(request, id: id, program: program, submitted: submitted, attempts: attempts)
        return actions + schedule()
    }

    mutating func add(_ request: TaskRequest, id: JobID, program: String, submitted: Duration, attempts: Int) {
        let foreground = request.kind == .continued && !request.initiator.isAutomatic
        waiting[id] = WaitingEntry(
            id: id, program: program, request: request, submitted: submitted, since: submitted, place: .parked,
            stamp: 0, isForeground: foreground, attempts: attempts)
        programs[program]?.waiting[request.identifier] = id
        programs[program]?.waitingCount[request.kind, default: 0] += 1
        if let key = request.requestKey { programs[program]?.requestKeys[key] = id }
        if request.kind == .processing { overdue.insert(id, stamp: 0, at: submitted + settings.overdueAfter) }
        enqueue(id)
    }

    private func admission(of id: JobID, isRepeat: Bool) -> Admission {
        let position = waiting[id].map { entry in
            max((programs[entry.program]?.waitingCount[entry.request.kind] ?? 1) - 1, 0)
        }
        return Admission(
            id: id, isRunning: running[id] != nil, position: position ?? 0, reasons: why(id), warnings: [],
            replaced: nil, isRepeat: isRepeat)
    }

    private func warnings(for request: TaskRequest) -> [Diagnostic] {
        guard request.kind == .continued else { return [] }
        var found: [Diagnostic] = []
        if request.earliestBegin != nil {
            found.append(
                Diagnostic(
                    code: "earliestBeginDateIgnored",
                    sentence: "Continued work starts at once, so its earliest begin date is ignored.",
                    fix: "Submit a processing request to start at a later time."))
        }
        if request.initiator.isAutomatic {
            found.append(
                Diagnostic(
                    code: "automaticInitiator",
                    sentence: "No person started this (\(request.initiator.rawValue)); it runs in the background.",
                    fix: "Submit a processing request for work that starts by itself."))
        }
        return found
    }

    /// There is room for a request that must start at once, but its turn has not come (rule 23).
    private mutating func turnFailures(of request: TaskRequest) -> [Rejection.Failure] {
        guard request.kind == .continued, request.strategy == .fail,
            othersGoFirst(before: request, isForeground: !request.initiator.isAutomatic)
        else { return [] }
        return [
            .init(
                code: .immediateRunIneligible, detail: WaitReason.Code.behindOthers.text,
                sentence: "Requests that have waited longer get the next room.",
                fix: "Submit it with the strategy \"queue\", or cancel one of them.")
        ]
    }

    // MARK: Checks, in their fixed order (rule 18)

    private func failures(of request: TaskRequest, program name: String) -> [Rejection.Failure] {
        guard let program = programs[name] else {
            return [
                .init(
                    code: .notPermitted, detail: "unknownProgram", sentence: "There is no program \"\(name)\".",
                    fix: "Configure the program with its manifest first.")
            ]
        }
        let earlier =
            identifierFailures(request, program) + modeFailures(request, program) + switchFailures(name)
            + grantFailures(request, program) + resourceFailures(request) + limitFailures(request, program)
        return earlier + immediacyFailures(request, program)
    }

    private func identifierFailures(_ request: TaskRequest, _ program: ProgramEntry) -> [Rejection.Failure] {
        let identifier = request.identifier
        if let problem = identifier.shapeProblem(program: program.manifest.program) {
            return [
                .init(
                    code: .notPermitted, detail: "identifierShape",
                    sentence: problem
                        + ClosestNames.sentence(
                            to: identifier.rawValue, among: program.manifest.permitted.map(\.rawValue)),
                    fix: "Name it \(program.manifest.program).NAME with letters, digits, \"-\" and \"_\".")
            ]
        }
        let permitted = program.manifest.permitted.filter { $0.matches(identifier) }
        guard permitted.contains(where: { !$0.isWildcard || request.kind == .continued }) else {
            return [
                .init(
                    code: .notPermitted, detail: "identifierNotPermitted",
                    sentence: "\"\(identifier)\" is not among the permitted identifiers of "
                        + "\(program.manifest.program)."
                        + ClosestNames.sentence(
                            to: identifier.rawValue, among: program.manifest.permitted.map(\.rawValue)),
                    fix: "Add it to the manifest's identifiers; a wildcard is for continued work only.")
            ]
        }
        if request.kind == .continued, program.running[identifier] != nil {
            return [
                .init(
                    code: .notPermitted, detail: "alreadyRunning", sentence: "\(identifier) is running already.",
                    fix: "Wait until it has ended, or stop it.")
            ]
        }
        return handlerFailures(request, program, permitted)
    }

    private func handlerFailures(
        _ request: TaskRequest, _ program: ProgramEntry, _ permitted: [IdentifierPattern]
    ) -> [Rejection.Failure] {
        guard let handlers = program.handlers,
            !permitted.contains(where: { program.manifest.entryPoints[$0] != nil })
        else { return [] }
        guard let handler = handlers.handler(for: request.identifier) else {
            return [
                .init(
                    code: .notPermitted, detail: "handlerMissing",
                    sentence: "No launch handler is registered for \"\(request.identifier)\".",
                    fix: "Register a handler for it before submitting.")
            ]
        }
        if let kind = handlers.kind(of: handler), kind != request.kind {
            return [
                .init(
                    code: .notPermitted, detail: "handlerMismatch",
                    sentence: "The handler of \"\(request.identifier)\" takes \(kind.rawValue) tasks, "
                        + "and the request is of kind \(request.kind.rawValue).",
                    fix: "Submit a request of the handler's kind, or register the other kind.")
            ]
        }
        return []
    }

    private func modeFailures(_ request: TaskRequest, _ program: ProgramEntry) -> [Rejection.Failure] {
        var found: [Rejection.Failure] = []
        if !program.manifest.modes.contains(request.kind) {
            found.append(
                .init(
                    code: .notPermitted, detail: "modeMissing",
                    sentence: "The manifest of \(program.manifest.program) does not have the mode "
                        + "\"\(request.kind.rawValue)\".",
                    fix: "Add \"\(request.kind.rawValue)\" to the manifest's modes."))
        }
        if request.kind == .continued, request.initiator.isAutomatic, !settings.allowsAutomaticContinued {
            found.append(
                .init(
                    code: .notPermitted, detail: "automaticInitiator",
                    sentence:
                        "Continued work must be started by a person here, not by a \(request.initiator.rawValue).",
                    fix: "Start it from a terminal, or submit a processing request."))
        }
        return found
    }

    private func switchFailures(_ program: String) -> [Rejection.Failure] {
        let status = backgroundStatus(of: program)
        guard status != .available else { return [] }
        return [
            .init(
                code: .unavailable, detail: "backgroundSwitchedOff",
                sentence: globalSwitch != .available
                    ? "Background work is switched off on this machine (\(status.rawValue))."
                    : "Background work is switched off for \(program) (\(status.rawValue)).",
                fix: "Its person can switch it on again; do not ask by yourself.")
        ]
    }

    private func grantFailures(_ request: TaskRequest, _ program: ProgramEntry) -> [Rejection.Failure] {
        guard !request.requiredResources.isSubset(of: program.manifest.grants) else { return [] }
        return [
            .init(
                code: .notPermitted, detail: "grantMissing",
                sentence: "The manifest of \(program.manifest.program) does not grant the GPU.",
                fix: "Add \"gpu\" to the manifest's grants.")
        ]
    }

    private func resourceFailures(_ request: TaskRequest) -> [Rejection.Failure] {
        let missing = request.requiredResources.subtracting(supportedResources)
        guard missing.isEmpty else {
            let known = absences.filter { !$0.resource.isDisjoint(with: missing) }
            guard known.isEmpty else {
                return known.map { .init(code: .notPermitted, detail: $0.code, sentence: $0.sentence, fix: $0.fix) }
            }
            return [
                .init(
                    code: .notPermitted, detail: "unsupportedResources",
                    sentence: "This machine does not have what the request requires.",
                    fix: "Prefer the resource instead of requiring it.")
            ]
        }
        guard request.requiredResources.contains(.gpu) else { return [] }
        guard let largest = devices.largestMemory(request.devices) else {
            return [
                .init(
                    code: .notPermitted, detail: "devicesExcluded",
                    sentence: "The request excludes every GPU of this machine.", fix: "Exclude fewer devices.")
            ]
        }
        if largest < request.claim.deviceMemoryBytes {
            return [
                .init(
                    code: .notPermitted, detail: "deviceMemoryTooSmall",
                    sentence: "The request needs \(request.claim.deviceMemoryBytes) bytes of device memory, "
                        + "and the largest GPU has \(largest).",
                    fix: "Use smaller batches or tiles, or prefer the GPU instead of requiring it.")
            ]
        }
        let obstacle = devices.place(0, request.devices, at: now)
        if case .failure(let failure) = obstacle, case .quarantined(let until) = failure.obstacle {
            return [
                .init(
                    code: .notPermitted, detail: "deviceQuarantined",
                    sentence: "Every GPU failed repeatedly and is left alone for another "
                        + "\(Int((until - now).inSeconds.rounded(.up))) s.",
                    fix: "Submit again then, or clear the quarantine when the cause is gone.")
            ]
        }
        return []
    }

    private func limitFailures(_ request: TaskRequest, _ program: ProgramEntry) -> [Rejection.Failure] {
        let limit = settings.maxPending[request.kind] ?? Int.max
        let count = program.waitingCount[request.kind] ?? 0
        let replaces = program.waiting[request.identifier].flatMap { waiting[$0]?.request.kind } == request.kind
        guard count - (replaces ? 1 : 0) >= limit else { return [] }
        return [
            .init(
                code: .tooManyPendingTaskRequests, detail: "pendingLimit",
                sentence: "\(count) \(request.kind.rawValue) requests are pending, and \(limit) are allowed.",
                fix: "Cancel one of them, or submit again when one has started.")
        ]
    }

    /// `.fail` asks for a start at once, or for nothing (rule 23).
    private func immediacyFailures(_ request: TaskRequest, _ program: ProgramEntry) -> [Rejection.Failure] {
        guard request.kind == .continued, request.strategy == .fail else { return [] }
        var reasons = obstacles(to: request, isForeground: !request.initiator.isAutomatic)
        if !program.isPresent { reasons.append(hostAbsent(program.manifest.program)) }
        return reasons.map { reason in
            let holders =
                reason.holders.isEmpty ? "" : " Held by " + reason.holders.map(\.rawValue).joined(separator: ", ") + "."
            return .init(
                code: .immediateRunIneligible, detail: reason.code.text, sentence: reason.sentence + holders,
                fix: reason.fix)
        }
    }
}
