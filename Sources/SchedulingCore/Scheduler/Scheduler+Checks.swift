import TaskModel

/// The checks of a submission, in their fixed order (rule 18).
extension Scheduler {
    func failures(of request: TaskRequest, program name: String) -> [Rejection.Failure] {
        guard let program = programs[name], program.isAnnounced else {
            return [
                .notPermitted(
                    "unknownProgram", "There is no program \"\(name)\".",
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
        let manifest = program.manifest
        // Compares with every permitted name, byte by byte: only what is refused takes that time, and only if it may be
        // one of them.
        func closest() -> String {
            guard identifier.rawValue.utf8.count <= TaskIdentifier.maxBytes else { return "" }
            return ClosestNames.sentence(to: identifier.rawValue, among: manifest.permitted.map(\.rawValue))
        }
        if let problem = identifier.shapeProblem(program: manifest.program) {
            return [
                .notPermitted(
                    "identifierShape", problem + closest(),
                    fix: "Name it \(manifest.program).NAME with letters, digits, \"-\" and \"_\".")
            ]
        }
        let permitted = manifest.permitted.filter { $0.matches(identifier) }
        guard permitted.contains(where: { !$0.isWildcard || request.kind == .continued }) else {
            return [
                .notPermitted(
                    "identifierNotPermitted",
                    "\"\(identifier)\" is not among the permitted identifiers of \(manifest.program)." + closest(),
                    fix: "Add it to the manifest's identifiers; a wildcard is for continued work only.")
            ]
        }
        if request.kind == .continued, program.running[identifier] != nil {
            return [
                .notPermitted(
                    "alreadyRunning", "\(identifier) is running already.",
                    fix: "Wait until it has ended, or stop it.")
            ]
        }
        return handlerFailures(request, program)
    }

    private func handlerFailures(_ request: TaskRequest, _ program: ProgramEntry) -> [Rejection.Failure] {
        let identifier = request.identifier
        guard let handlers = program.handlers else { return [] }
        guard let handler = handlers.handler(for: identifier) else {
            if handlers.startsEntryPoint(identifier) { return [] }
            return handlers.hasEntryPoint(identifier)
                ? [
                    .notPermitted(
                        "handlerMissing",
                        "\"\(identifier)\" has an entry point and no launch handler in this process.",
                        fix: "Register a handler for it, or submit it to the service, which starts entry points.")
                ]
                : [
                    .notPermitted(
                        "handlerMissing", "No launch handler is registered for \"\(identifier)\".",
                        fix: "Register a handler for it before submitting.")
                ]
        }
        guard let kind = handlers.kind(of: handler), kind != request.kind else { return [] }
        return [
            .notPermitted(
                "handlerMismatch",
                "The handler of \"\(identifier)\" takes \(kind.rawValue) tasks, "
                    + "and the request is of kind \(request.kind.rawValue).",
                fix: "Submit a request of the handler's kind, or register the other kind.")
        ]
    }

    private func modeFailures(_ request: TaskRequest, _ program: ProgramEntry) -> [Rejection.Failure] {
        var found: [Rejection.Failure] = []
        if !program.manifest.modes.contains(request.kind) {
            found.append(
                .notPermitted(
                    "modeMissing",
                    "The manifest of \(program.manifest.program) does not have the mode \"\(request.kind.rawValue)\".",
                    fix: "Add \"\(request.kind.rawValue)\" to the manifest's modes."))
        }
        if request.kind == .continued, request.initiator.isAutomatic, !settings.allowsAutomaticContinued {
            found.append(
                .notPermitted(
                    "automaticInitiator",
                    "Continued work must be started by a person here, not by a \(request.initiator.rawValue).",
                    fix: "Start it from a terminal, or submit a processing request."))
        }
        return found
    }

    private func switchFailures(_ program: String) -> [Rejection.Failure] {
        let status = backgroundStatus(of: program)
        guard status != .available else { return [] }
        let place = globalSwitch != .available ? "on this machine" : "for \(program)"
        return [
            .init(
                code: .unavailable, detail: "backgroundSwitchedOff",
                sentence: "Background work is switched off \(place) (\(status.rawValue)).",
                fix: "Its person can switch it on again; do not ask by yourself.")
        ]
    }

    private func grantFailures(_ request: TaskRequest, _ program: ProgramEntry) -> [Rejection.Failure] {
        guard !request.requiredResources.isSubset(of: program.manifest.grants) else { return [] }
        return [
            .notPermitted(
                "grantMissing", "The manifest of \(program.manifest.program) does not grant the GPU.",
                fix: "Add \"gpu\" to the manifest's grants.")
        ]
    }

    private func resourceFailures(_ request: TaskRequest) -> [Rejection.Failure] {
        claimFailures(request) + memoryFailures(request) + deviceFailures(request)
    }

    /// Bytes that work may claim. Thousands of the largest claim add up to a number still.
    private static let possibleClaim = 0...(1 << 50)

    private func claimFailures(_ request: TaskRequest) -> [Rejection.Failure] {
        let claims = [request.claim.memoryBytes, request.claim.deviceMemoryBytes]
        return claims.filter { !Self.possibleClaim.contains($0) }.map { claim in
            .notPermitted(
                "claimImpossible", "The request claims \(claim) bytes of memory.",
                fix: "Claim what the work holds, from 0 to \(Self.possibleClaim.upperBound) bytes.")
        }
    }

    /// What no machine of this size can give, it would wait for in vain.
    private func memoryFailures(_ request: TaskRequest) -> [Rejection.Failure] {
        let claim = request.claim.memoryBytes
        guard claim > 0, let total = gates.conditions.totalMemoryBytes else { return [] }
        let most = max(total - Int(thresholds.memory.stop), 0)
        guard claim > most else { return [] }
        return [
            .notPermitted(
                "memoryTooSmall",
                "The request needs \(Bytes.text(claim)) of memory, and of this machine's \(Bytes.text(total)) "
                    + "it can have \(Bytes.text(most)) at most.",
                fix: "Use smaller batches or tiles, or run it on a machine with more memory.")
        ]
    }

    private func deviceFailures(_ request: TaskRequest) -> [Rejection.Failure] {
        let missing = request.requiredResources.subtracting(supportedResources)
        guard missing.isEmpty else {
            let known = absences.filter { !$0.resource.isDisjoint(with: missing) }
            guard known.isEmpty else { return known.map { .notPermitted($0.code, $0.sentence, fix: $0.fix) } }
            return [
                .notPermitted(
                    "unsupportedResources", "This machine does not have what the request requires.",
                    fix: "Prefer the resource instead of requiring it.")
            ]
        }
        guard request.requiredResources.contains(.gpu) else { return [] }
        guard let largest = devices.largestMemory(request.devices) else {
            return [
                .notPermitted(
                    "devicesExcluded", "The request excludes every GPU of this machine.", fix: "Exclude fewer devices.")
            ]
        }
        if largest < request.claim.deviceMemoryBytes {
            return [
                .notPermitted(
                    "deviceMemoryTooSmall",
                    "The request needs \(request.claim.deviceMemoryBytes) bytes of device memory, "
                        + "and the largest GPU has \(largest).",
                    fix: "Use smaller batches or tiles, or prefer the GPU instead of requiring it.")
            ]
        }
        let obstacle = devices.place(0, request.devices, at: now)
        if case .failure(let failure) = obstacle, case .quarantined(let until) = failure.obstacle {
            return [
                .notPermitted(
                    "deviceQuarantined",
                    "Every GPU failed repeatedly and is left alone for another "
                        + "\(Int((until - now).inSeconds.rounded(.up))) s.",
                    fix: "Submit again then, or run bgrun doctor --clear-quarantine when the cause is gone.")
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

    // MARK: Immediate starts

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

    /// There is room for a request that must start at once, but its turn has not come.
    mutating func turnFailures(of request: TaskRequest) -> [Rejection.Failure] {
        guard request.kind == .continued, request.strategy == .fail,
            othersGoFirst(before: request, isForeground: !request.initiator.isAutomatic)
        else { return [] }
        return [
            .init(
                code: .immediateRunIneligible, detail: WaitReason.Code.behindOthers.text,
                sentence: "Others get the next room before it.",
                fix: "Submit it with the strategy \"queue\", or cancel one of them.")
        ]
    }
}

extension Rejection.Failure {
    fileprivate static func notPermitted(_ detail: String, _ sentence: String, fix: String) -> Self {
        Self(code: .notPermitted, detail: detail, sentence: sentence, fix: fix)
    }
}
