import TaskModel

/// The checks of a submission, in their fixed order (rule 18).
extension Scheduler {
    func failures(of request: TaskRequest, program name: String) -> [Rejection.Failure] {
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
