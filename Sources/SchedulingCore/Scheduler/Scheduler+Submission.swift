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
        let before = catchUp() + shedForMemory() + schedule()
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
        add(request, id: id, program: program, submitted: now)
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
        var id = JobID(copy.nextID)
        if case .success(let admission) = submission.answer {
            id = admission.id
            if let run = copy.running[admission.id] {
                foreground = run.isForeground
                device = run.device
                start = copy.now
            } else {
                start = copy.earliestStart(admission.reasons)
                device = (try? copy.placement(of: request).get())?.device
            }
        }
        let terms = copy.terms(of: id, isForeground: foreground, device: device)
        let effort = terms.dutyCycle * Double(terms.concurrency) / Double(settings.cores)
        return Preview(
            answer: submission.answer, terms: terms, device: device,
            expectedChunks: request.expectedWork.map { max(1, Int(($0 / terms.chunkTarget).rounded(.up))) },
            secondsOfWork: request.expectedWork.map { $0.inSeconds...($0.inSeconds / effort) }, earliestStart: start)
    }

    /// Takes up a request that was stored by an earlier scheduler, as it was. Its program need not be known yet.
    ///
    /// - Parameters:
    ///   - request: As it was submitted.
    ///   - id: Its number of then.
    ///   - program: Its program, for which it waits where that has not announced itself.
    ///   - submitted: When, on this scheduler's clock.
    ///   - attempts: Runs so far. That its host ended them is no failure of the task.
    ///   - losses: Runs of these that were lost with their device or process, one for each `requeue` to a later time;
    ///     these do count.
    ///   - time: Now.
    /// - Returns: What is to be done.
    package mutating func adopt(
        _ request: TaskRequest, id: JobID, program: String, submitted: Duration, attempts: Int, losses: Int = 0,
        at time: Duration
    ) -> [SchedulerAction] {
        advance(to: time)
        nextID = max(nextID, id.rawValue + 1)
        awaitProgram(program)
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
        add(request, id: id, program: program, submitted: submitted, attempts: attempts, losses: losses)
        return actions + schedule()
    }

    mutating func add(
        _ request: TaskRequest, id: JobID, program: String, submitted: Duration, attempts: Int = 0, losses: Int = 0
    ) {
        let foreground = request.kind == .continued && !request.initiator.isAutomatic
        waiting[id] = WaitingEntry(
            id: id, program: program, request: request, submitted: submitted, since: submitted,
            place: .parked(.hostAbsent), placedAt: attempts == 0 ? submitted : now, stamp: 0, isForeground: foreground,
            attempts: attempts, losses: losses)
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
}
