import DescribedFile
import SchedulingCore
import TaskModel

extension DayTraceReader {
    // MARK: Requests

    mutating func readRequest(_ value: DescribedValue) {
        let own = ["at", "behaviour", "ends", "resubmits", "every", "times"]
        guard let fields = value.fields(["at"] + RequestFields.keys + own.dropFirst()) else { return }
        let at = time(fields)
        let request = RequestFields.read(fields) { time($0).map { day.start.sinceEpoch + $0 } }
        let behaviour = fields["behaviour"].map(Self.behaviour) ?? .completes
        let ends = fields["ends"]?.duration() ?? .seconds(1)
        let resubmits = fields["resubmits"]?.flag() ?? false
        let every = fields["every"]?.duration()
        let times = fields["times"]?.integer(in: 1...100_000)
        if let value = fields["times"], fields["every"] == nil {
            value.refuse("timesWithoutEvery", "It is not said how far apart the requests are.", fix: "Add \"every\".")
        }
        if let value = fields["every"], let every, every < .seconds(1) {
            value.refuse("tooOften", "Requests are repeated once a second at most.", fix: "Write a longer time.")
            return
        }
        guard let at, var request, let behaviour else { return }
        guard let program = fields["program"]?.text() ?? program(of: request.identifier) else {
            value.refuse(
                "unknownProgram", "No program of this day has an identifier like \"\(request.identifier)\".",
                fix: "Describe it under \"programs\", or name it by \"program\".")
            return
        }
        let work = request.expectedWork ?? .seconds(600)
        request.expectedWork = work
        let virtual = VirtualRequest(
            program: program, request: request, behaviour: behaviour, work: work, ends: ends, resubmits: resubmits)
        var next = at
        var left = every == nil ? 1 : times ?? .max
        while next < day.length, left > 0, day.entries.count <= Self.maxEntries {
            day.entries.append(.init(at: next, .request(virtual)))
            left -= 1
            guard let every else { break }
            next += every
        }
    }

    /// The program whose name the identifier starts with; the longest one where there are several.
    func program(of identifier: TaskIdentifier) -> String? {
        day.programs.map(\.program).filter { identifier.rawValue.hasPrefix($0 + ".") }.max { $0.count < $1.count }
    }

    /// `completes`, `ignoresExpiration`, or `{stalls: 40%}` and its like.
    private static func behaviour(_ value: DescribedValue) -> VirtualRequest.Behaviour? {
        guard value.isMapping else {
            return value.choice([
                "completes": VirtualRequest.Behaviour.completes, "ignoresExpiration": .ignoresExpiration,
                "fails": .fails(at: 1), "stalls": .stalls(at: 0.5), "slows": .slows(at: 0.5),
                "losesDevice": .losesDevice(at: 0.5), "breaks": .breaks(at: 0.5),
            ])
        }
        guard let fields = value.fields(["fails", "stalls", "slows", "losesDevice", "breaks"]) else { return nil }
        guard let key = fields.keys.first, fields.keys.count == 1, let percent = fields[key]?.percent() else {
            if fields.keys.count != 1 {
                value.refuse("behaviour", "A task behaves in one way.", fix: "Write e.g. {stalls: 40%}.")
            }
            return nil
        }
        let share = percent / 100
        switch key {
        case "fails": return .fails(at: share)
        case "stalls": return .stalls(at: share)
        case "slows": return .slows(at: share)
        case "losesDevice": return .losesDevice(at: share)
        default: return .breaks(at: share)
        }
    }

    // MARK: Events

    static let eventKeys = [
        "promote", "demote", "pause", "resume", "stop", "cancel", "simulateLaunch", "simulateExpiration",
        "hostRemoved", "hostReturned", "switchOff", "switchOn", "clockJump", "quietHours", "pauseDevice",
        "resumeDevice", "failDevice",
    ]

    mutating func readEvent(_ value: DescribedValue) {
        guard let fields = value.fields(["at"] + Self.eventKeys + ["reason"]) else { return }
        let at = time(fields)
        let named = fields.keys.filter(Self.eventKeys.contains)
        guard named.count == 1, let key = named.first, let target = fields[key] else {
            value.refuse(
                "event", named.isEmpty ? "This says not what happens." : "Several things happen in one entry.",
                fix: "Write one of \(Self.eventKeys.joined(separator: ", ")) with its value.")
            return
        }
        let reason = fields["reason"].map { $0.choice(StopReason.self) } ?? .simulated
        if let value = fields["reason"], key != "simulateExpiration" {
            value.refuse("reason", "Only simulateExpiration has a reason.", fix: "Remove it.")
        }
        guard let event = event(key, target, reason), let at else { return }
        day.entries.append(.init(at: at, .event(event)))
    }

    private func event(_ key: String, _ target: DescribedValue, _ reason: StopReason?) -> DayEvent? {
        if key == "quietHours" { return .blockHours(quietHours(target)) }
        guard let text = target.text() else { return nil }
        let identifier = TaskIdentifier(text)
        switch key {
        case "promote": return .promote(identifier)
        case "demote": return .demote(identifier)
        case "pause": return .pause(identifier)
        case "resume": return .resume(identifier)
        case "stop": return .stop(identifier)
        case "cancel": return .cancel(identifier)
        case "simulateLaunch": return .simulateLaunch(identifier)
        case "simulateExpiration": return reason.map { .simulateExpiration(identifier, $0) }
        case "hostRemoved": return known(text, target).map { .hostRemoved($0) }
        case "hostReturned": return known(text, target).map { .hostReturned($0) }
        case "switchOff": return text == "all" ? .switchOff(nil) : known(text, target).map { .switchOff($0) }
        case "switchOn": return text == "all" ? .switchOn(nil) : known(text, target).map { .switchOn($0) }
        case "clockJump":
            let isBack = text.hasPrefix("-")
            guard let jump = Amounts.duration(text.hasPrefix("+") || isBack ? String(text.dropFirst()) : text) else {
                target.refuse("notADuration", "\"\(text)\" is no jump.", fix: "Write e.g. +1h or -30m.")
                return nil
            }
            return .clockJump(isBack ? .zero - jump : jump)
        case "pauseDevice": return device(text, target).map { .pauseDevice($0) }
        case "resumeDevice": return device(text, target).map { .resumeDevice($0) }
        default: return device(text, target).map { .failDevice($0) }
        }
    }

    private func known(_ program: String, _ value: DescribedValue) -> String? {
        if day.programs.contains(where: { $0.program == program }) { return program }
        value.refuse(
            "unknownProgram", "There is no program \"\(program)\" in this day.", fix: "Describe it under \"programs\".")
        return nil
    }

    private func device(_ id: String, _ value: DescribedValue) -> String? {
        if day.devices.contains(where: { $0.id == id }) { return id }
        value.refuse(
            "unknownDevice", "There is no device \"\(id)\" in this day.", fix: "Describe it under \"devices\".")
        return nil
    }
}
