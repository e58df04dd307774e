package import TaskModel

/// Requests that are due and wait for their conditions and for room.
///
/// Requests that need the same stand in one line. There are as many lines as there are different needs, whatever the
/// number of requests, so the next one to run is found by looking at the heads.
struct WaitingLines: Sendable {
    /// What all requests of a line have in common.
    struct Needs: Hashable, Sendable {
        var conditions: ConditionSet
        var mustBeKnown: ConditionSet
        var required: ComputeResources
        var preferred: ComputeResources
        /// Power of two that the claim does not exceed: a small claim is not stuck behind a large one.
        var memoryClass: Int
        var deviceMemoryClass: Int
        var devices: TaskRequest.DeviceChoice
        var isForeground: Bool
    }

    private var lines: [Needs: Agenda] = [:]

    mutating func insert(_ id: JobID, stamp: UInt32, at order: Duration, needs: Needs) {
        lines[needs, default: Agenda()].insert(id, stamp: stamp, at: order)
    }

    mutating func forgetOne(of needs: Needs, isLive: (Agenda.Entry) -> Bool) {
        lines[needs]?.forgetOne(isLive: isLive)
    }

    /// The first of each line whose needs the filter lets pass, in order.
    mutating func heads(where filter: (Needs) -> Bool, isLive: (Agenda.Entry) -> Bool) -> [Agenda.Entry] {
        var heads: [Agenda.Entry] = []
        // A copy of the keys: a view of them would share the lines, and each change would copy them whole.
        for needs in Array(lines.keys) where filter(needs) {
            if let head = lines[needs]?.first(isLive: isLive) {
                heads.append(head)
            } else {
                lines[needs] = nil
            }
        }
        return heads.sorted()
    }

    /// Takes the head of a line, as ``heads(where:isLive:)`` gave it.
    mutating func removeHead(of needs: Needs) {
        lines[needs]?.removeFirst()
        if lines[needs]?.count == 0 { lines[needs] = nil }
    }

    /// The needs of all lines that are not empty.
    var needs: [Needs] { Array(lines.keys) }

    func entries(isLive: (Agenda.Entry) -> Bool) -> [Agenda.Entry] {
        lines.values.flatMap { $0.entries(isLive: isLive) }
    }
}

extension WaitingLines.Needs {
    init(_ request: TaskRequest, isForeground: Bool) {
        conditions = request.startConditions(isForeground: isForeground)
        mustBeKnown = request.mustBeKnown
        required = request.requiredResources
        preferred = request.preferredResources
        memoryClass = Self.class(of: request.claim.memoryBytes)
        deviceMemoryClass = Self.class(of: request.claim.deviceMemoryBytes)
        devices = request.devices
        self.isForeground = isForeground
    }

    private static func `class`(of bytes: Int) -> Int {
        bytes <= 0 ? 0 : Int.bitWidth - (bytes - 1).leadingZeroBitCount + 1
    }
}

extension TaskRequest {
    /// Conditions without which it may not go on (rule 52). Low memory is not among them: it sheds work step by step.
    package func runConditions(isForeground: Bool) -> ConditionSet {
        var needed: ConditionSet = ConditionSet(.outputVolume)
        if requiresNetwork { needed.formUnion(ConditionSet(.network)) }
        if requiresExternalPower { needed.formUnion(ConditionSet(.externalPower)) }
        guard kind != .continued || !isForeground else { return needed }
        needed.formUnion(ConditionSet([.batteryLevel, .lowPowerMode, .thermal]))
        // Work on external power is not kept waiting for the battery to charge.
        if requiresExternalPower { needed.subtract(ConditionSet(.batteryLevel)) }
        if kind == .processing {
            needed.formUnion(ConditionSet(.allowedHours))
            if requiresIdle { needed.formUnion(ConditionSet(.idle)) }
        }
        if !requiredResources.union(preferredResources).isEmpty { needed.formUnion(ConditionSet(.gpuContention)) }
        return needed
    }

    /// Conditions without which it may not start.
    package func startConditions(isForeground: Bool) -> ConditionSet {
        var needed = runConditions(isForeground: isForeground).union(ConditionSet(.memory))
        if kind != .continued { needed.formUnion(ConditionSet(.pressure)) }
        return needed
    }
}
