extension Mutation {
    static let all: [Mutation] = [
        Mutation(
            name: "a launched request stays in the list of its program",
            file: "SchedulingCore/Scheduler/Scheduler+Waiting.swift",
            old: "if programs[entry.program]?.waiting[entry.request.identifier] == id {",
            new: "if id.rawValue == 0 {", invariant: "nothingLost"),
        Mutation(
            name: "an identifier that runs may run a second time",
            file: "SchedulingCore/Scheduler/Scheduler+Waiting.swift",
            old: "        if isRunning { return .noRoom }\n", new: "", invariant: "nothingTwice"),
        Mutation(
            name: "adopting forgets the attempts",
            file: "SchedulingCore/Scheduler/Scheduler+Submission.swift",
            old: "attempts: attempts, losses: losses)\n        return actions",
            new: "attempts: 0, losses: losses)\n        return actions", invariant: "nothingTwice"),
        Mutation(
            name: "the end is told twice", file: "SchedulingCore/Scheduler/Scheduler+Waiting.swift",
            old: "var actions: [SchedulerAction] = [.end(entry.id, entry.outcome)]",
            new: "var actions: [SchedulerAction] = [.end(entry.id, entry.outcome), .end(entry.id, entry.outcome)]",
            invariant: "oneOutcome"),
        Mutation(
            name: "the end is never told", file: "SchedulingCore/Scheduler/Scheduler+Waiting.swift",
            old: "var actions: [SchedulerAction] = [.end(entry.id, entry.outcome)]",
            new: "var actions: [SchedulerAction] = []", invariant: "oneOutcome"),
        Mutation(
            name: "a replaced request is not ended", file: "SchedulingCore/Scheduler/Scheduler+Submission.swift",
            old: "if let replaced { actions += endWaiting(replaced, .stopped(.replaced)) }",
            new: "if let replaced { waiting[replaced] = nil }", invariant: "oneOutcome"),
        Mutation(
            name: "success counts after an expiration, finished or not",
            file: "SchedulingCore/Running/TaskMachine.swift", old: "return success && isFinished ?",
            new: "return success ?", invariant: "oneOutcome"),
        Mutation(
            name: "conditions are not looked at before a start",
            file: "SchedulingCore/Scheduler/Scheduler+Launching.swift",
            old: "where: { [gates] in gates.allow($0.conditions, strictly: $0.mustBeKnown) },",
            new: "where: { _ in true },", invariant: "conditions"),
        Mutation(
            name: "a condition that must be known may be unknown",
            file: "SchedulingCore/Conditions/ConditionGates.swift",
            old: "closed.isDisjoint(with: needed) && strictlyClosed.isDisjoint(with: known)",
            new: "closed.isDisjoint(with: needed)", invariant: "conditions"),
        Mutation(
            name: "the dwell of a gate is ignored", file: "SchedulingCore/Conditions/ConditionGate.swift",
            old: "return max(metSince + dwell, lastOpened + minBetweenOpenings)",
            new: "return max(metSince, lastOpened + minBetweenOpenings)", invariant: "conditions"),
        Mutation(
            name: "a paused task goes on without the conditions of a start",
            file: "SchedulingCore/Scheduler/Scheduler+Launching.swift", old: "return run.isSimulated\n",
            new: "return true\n", invariant: "conditions"),
        Mutation(
            name: "one task more than there are slots", file: "SchedulingCore/Scheduler/Scheduler+Launching.swift",
            old: "holders.count < settings.cpuSlots", new: "holders.count <= settings.cpuSlots", invariant: "room"),
        Mutation(
            name: "a task whose grace runs holds no slot", file: "SchedulingCore/Scheduler/Entries.swift",
            old: "var takesSlot: Bool { machine.phase != .paused }", new: "var takesSlot: Bool { isActive }",
            invariant: "room"),
        Mutation(
            name: "claims of memory are not looked at", file: "SchedulingCore/Scheduler/Scheduler+Launching.swift",
            old: "return claim <= free ?", new: "return claim >= 0 ?", invariant: "room"),
        Mutation(
            name: "a request that lost its device tries again at once",
            file: "SchedulingCore/Scheduler/Scheduler+Ending.swift", old: "requeue(run.id, notBefore: now + delay)",
            new: "requeue(run.id, notBefore: now + delay * 0)", invariant: "retries"),
        Mutation(
            name: "a lost run is not counted", file: "SchedulingCore/Scheduler/Scheduler+Ending.swift",
            old: "running[run.id]?.losses = losses", new: "_ = losses", invariant: "retries"),
        Mutation(
            name: "lost work is tried again for ever", file: "SchedulingCore/Scheduler/Scheduler+Ending.swift",
            old: "guard losses < settings.maxAttempts else", new: "guard losses < 99 else", invariant: "retries"),
        Mutation(
            name: "a task that crashes has failed at once", file: "SchedulingCore/Scheduler/Scheduler+Ending.swift",
            old: "return retryLater(run, code: code) + schedule()",
            new: "return endRunning(run.id, .failed(code: code), isResumable: true) + schedule()",
            invariant: "retries"),
        Mutation(
            name: "work starts while the machine leaves", file: "SchedulingCore/Scheduler/Scheduler+Launching.swift",
            old: "        guard leavesFor == nil else { return [] }\n", new: "", invariant: "leaving"),
        Mutation(
            name: "work that is about to pause goes on while the machine leaves",
            file: "SchedulingCore/Scheduler/Scheduler+Pausing.swift", old: "guard leavesFor == nil, var run",
            new: "guard var run", invariant: "leaving"),
        Mutation(
            name: "continued work that a sleep stopped has ended",
            file: "SchedulingCore/Scheduler/Scheduler+Leaving.swift", old: "running[id]?.goesOnAfterwards = true",
            new: "_ = id", invariant: "leaving"),
        Mutation(
            name: "what was killed at the end of its grace is taken up again",
            file: "SchedulingCore/Scheduler/Scheduler+Progress.swift", old: "running[id]?.goesOnAfterwards = false",
            new: "_ = id", invariant: "leaving"),
        Mutation(
            name: "a person's stop does not outlast a sleep",
            file: "SchedulingCore/Scheduler/Scheduler+Ending.swift", old: "running[id]?.goesOnAfterwards = false",
            new: "_ = id", invariant: "leaving"),
        Mutation(
            name: "a person's stop is told as the leaving of the machine",
            file: "SchedulingCore/Scheduler/Scheduler+Ending.swift", old: "if reason == .userStop { running",
            new: "if reason == .simulated { running", invariant: "oneOutcome"),
        Mutation(
            name: "what was about to pause when the machine left never goes on",
            file: "SchedulingCore/Scheduler/Scheduler+Leaving.swift",
            old: " + running.keys.sorted().flatMap { goOnUnpaused($0) }", new: "", invariant: "workConserving"),
        Mutation(
            name: "work that has just gone on is preempted again",
            file: "SchedulingCore/Scheduler/Scheduler+Room.swift", old: "run.protectedUntil ?? now <= now",
            new: "!run.isSimulated", invariant: "inVain"),
        Mutation(
            name: "conditions are left out of the reasons",
            file: "SchedulingCore/Scheduler/Scheduler+Explaining.swift",
            old: "reasons += conditionReasons(needs.conditions, strictly: needs.mustBeKnown)\n        guard case",
            new: "guard case", invariant: "reasons"),
        Mutation(
            name: "a program that returns finds its requests still parked",
            file: "SchedulingCore/Scheduler/Scheduler.swift",
            old: "programs[name]?.isPresent = true\n        replaceWaiting(of: name)\n",
            new: "programs[name]?.isPresent = true\n", invariant: "reasons"),
        Mutation(
            name: "what is adopted before its program announces itself is lost to it",
            file: "SchedulingCore/Scheduler/Scheduler+Submission.swift", old: "        awaitProgram(program)\n",
            new: "",
            invariant: "nothingLost"),
        Mutation(
            name: "a host that starts anew has used up attempts",
            file: "SchedulingCore/Scheduler/Scheduler+Ending.swift", old: "let losses = run.losses + 1",
            new: "let losses = run.attempt", invariant: "retries"),
        Mutation(
            name: "the time in a place is forgotten when it is left",
            file: "SchedulingCore/Scheduler/Scheduler+Waiting.swift",
            old: "        entry.waits = waitTimes(of: entry)\n", new: "", invariant: "waitTimes"),
        Mutation(
            name: "conditions that held it at the same time are added up",
            file: "SchedulingCore/Waiting/WaitTimes.swift",
            old: "Self.covered(closed.values.flatMap(\\.self)))",
            new: "closed.values.reduce(.zero) { $0 + Self.covered($1) } + .milliseconds(1))", invariant: "waitTimes"),
        Mutation(
            name: "more is left than there is", file: "SchedulingCore/Running/ProgressWatch.swift",
            old: "let left = 1 - last.fraction", new: "let left = 1.5 - last.fraction", invariant: "timeLeft"),
        Mutation(
            name: "memory is taken from others for what cannot have enough",
            file: "SchedulingCore/Scheduler/Scheduler+Room.swift",
            old: "(freeMemory ?? 0) + freed >= needed", new: "(freeMemory ?? 0) + 2 * freed >= needed",
            invariant: "inVain"),
        Mutation(
            name: "no memory is taken from others for foreground work",
            file: "SchedulingCore/Scheduler/Scheduler+Room.swift",
            old: "(freeMemory ?? 0) + freed >= needed", new: "(freeMemory ?? 0) >= needed + freed",
            invariant: "foregroundFirst"),
        Mutation(
            name: "a claim of more memory than there is is let in",
            file: "SchedulingCore/Scheduler/Scheduler+Checks.swift", old: "guard claim > most else { return [] }",
            new: "guard claim > 2 * most else { return [] }", invariant: "answers"),
        Mutation(
            name: "foreground work gives way to urgent work again and again",
            file: "SchedulingCore/Scheduler/StartCandidate.swift",
            old: "let foregroundIsNext = candidates.contains(where: \\.hasGivenWay)",
            new: "let foregroundIsNext = candidates.isEmpty", invariant: "foregroundFirst"),
        Mutation(
            name: "each background task takes all cores",
            file: "SchedulingCore/Scheduler/Scheduler+Priority.swift",
            old: "device == nil ? coresShared(with: id) : settings.cores",
            new: "settings.cores", invariant: "terms"),
        Mutation(
            name: "a device is not given back", file: "SchedulingCore/Scheduler/Scheduler+Ending.swift",
            old: "devices.release(id)\n        claimedSinceReading = claimedBytes(without: run)\n        if programs",
            new: "claimedSinceReading = claimedBytes(without: run)\n        if programs", invariant: "workConserving"),
        Mutation(
            name: "a paused task keeps its slot", file: "SchedulingCore/Scheduler/Entries.swift",
            old: "var takesSlot: Bool { machine.phase != .paused }", new: "var takesSlot: Bool { true }",
            invariant: "workConserving"),
        Mutation(
            name: "work that conditions paused stays paused",
            file: "SchedulingCore/Scheduler/Scheduler+Pausing.swift",
            old: "actions += clear(.conditions, id)\n", new: "continue\n", invariant: "workConserving"),
        Mutation(
            name: "the grace is twice as long", file: "SchedulingCore/Scheduler/Scheduler+Ending.swift",
            old: "let deadline = now + settings.grace", new: "let deadline = now + settings.grace * 2",
            invariant: "grace"),
        Mutation(
            name: "no timer is set for the end of the grace",
            file: "SchedulingCore/Scheduler/Scheduler+Ending.swift",
            old: "deadline: deadline) else { return [] }\n        running[id] = run\n        setTimer(id)\n",
            new: "deadline: deadline) else { return [] }\n        running[id] = run\n", invariant: "grace"),
        Mutation(
            name: "a gate opens more often than once a minute",
            file: "SchedulingCore/Conditions/ConditionGate.swift",
            old: "return max(metSince + dwell, lastOpened + minBetweenOpenings)", new: "return metSince + dwell",
            invariant: "flapping"),
        Mutation(
            name: "the last to come is the first to go", file: "SchedulingCore/Scheduler/StartCandidate.swift",
            old: "(rank($0), $0.turn, $0.id) < (rank($1), $1.turn, $1.id)",
            new: "(rank($0), $1.turn, $1.id) < (rank($1), $0.turn, $0.id)", invariant: "starvation"),
        Mutation(
            name: "waiting makes up for nothing", file: "SchedulingCore/Scheduler/Scheduler+Waiting.swift",
            old: "return entry.since + (settings.turnDelay[taskClass] ?? .zero)",
            new: "return settings.turnDelay[taskClass] ?? .zero", invariant: "starvation"),
        Mutation(
            name: "no room is made for foreground work",
            file: "SchedulingCore/Scheduler/Scheduler+Launching.swift", old: "return actions + makeRoom()",
            new: "return actions", invariant: "foregroundFirst"),
        Mutation(
            name: "what is due at this very moment is left", file: "SchedulingCore/Scheduler/Scheduler.swift",
            old: "while let entry = nextDismissal(), entry.key <= now {",
            new: "while let entry = nextDismissal(), entry.key < now {", invariant: "deadlines"),
        Mutation(
            name: "silence is warned of and nothing follows", file: "SchedulingCore/Scheduler/Entries.swift",
            old: "return warnedAt == nil ? stall.warning : stall.limit",
            new: "return warnedAt == nil ? stall.warning : nil", invariant: "silence"),
        Mutation(
            name: "new terms are not told", file: "SchedulingCore/Scheduler/Scheduler+Priority.swift",
            old: "actions.append(.setTerms(id, terms))", new: "_ = id", invariant: "terms"),
        Mutation(
            name: "one request more than may wait", file: "SchedulingCore/Scheduler/Scheduler+Checks.swift",
            old: "guard count - (replaces ? 1 : 0) >= limit", new: "guard count - (replaces ? 1 : 0) > limit",
            invariant: "answers"),
    ]
}
