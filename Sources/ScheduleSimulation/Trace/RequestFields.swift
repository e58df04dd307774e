package import DescribedFile
package import TaskModel

/// The keys of a described request.
package enum RequestFields {
    package static let keys = [
        "program", "identifier", "kind", "title", "subtitle", "floor", "needs", "idle", "prefers", "mustBeKnown",
        "strategy",
        "priority", "initiator", "memory", "gpuMemory", "devices", "excludedDevices", "avoidDisplay", "slowPolicy",
        "requestKey", "work",
    ]

    /// The request that these keys describe.
    ///
    /// - Parameters:
    ///   - fields: Keys and values.
    ///   - floor: Reads an earliest begin date as seconds since 1970.
    /// - Returns: nil after noting what is wrong.
    package static func read(
        _ fields: DescribedFields, floor: (DescribedValue) -> Duration?
    ) -> TaskRequest? {
        guard let identifier = fields.required("identifier", fix: "Name what is asked for.")?.text(),
            let kind = fields.required("kind", fix: "Write refresh, processing or continued.")?.choice(TaskKind.self)
        else { return nil }
        var request = TaskRequest(identifier: TaskIdentifier(identifier), kind: kind)
        request.title = fields["title"]?.text() ?? ""
        request.subtitle = fields["subtitle"]?.text() ?? ""
        request.earliestBegin = fields["floor"].flatMap(floor)
        request.requiresIdle = fields["idle"]?.flag() ?? true
        for item in fields["needs"]?.itemsOrOne() ?? [] { require(item, &request) }
        for item in fields["prefers"]?.itemsOrOne() ?? [] {
            request.preferredResources.formUnion(item.choice(["gpu": ComputeResources.gpu]) ?? [])
        }
        for item in fields["mustBeKnown"]?.itemsOrOne() ?? [] {
            if let kind = item.choice(ConditionKind.self) { request.mustBeKnown.formUnion(ConditionSet(kind)) }
        }
        if let strategy = fields["strategy"]?.choice(["fail": TaskRequest.Strategy.fail, "queue": .queue]) {
            request.strategy = strategy
        }
        let isBackground = fields["priority"]?.choice(["foreground": false, "background": true]) ?? false
        if isBackground { request.initiator = .script }
        if let initiator = fields["initiator"]?.choice([
            "terminal": TaskRequest.Initiator.terminal, "dashboard": .dashboard, "script": .script,
            "schedule": .schedule,
        ]) {
            request.initiator = initiator
        }
        request.claim.memoryBytes = fields["memory"]?.bytes() ?? 0
        request.claim.deviceMemoryBytes = fields["gpuMemory"]?.bytes() ?? 0
        request.devices.ordered = (fields["devices"]?.itemsOrOne() ?? []).compactMap { $0.text() }
        request.devices.excluded = Set((fields["excludedDevices"]?.itemsOrOne() ?? []).compactMap { $0.text() })
        request.devices.avoidsDisplay = fields["avoidDisplay"]?.flag() ?? false
        if let policy = fields["slowPolicy"]?.choice(["goOn": TaskRequest.SlowPolicy.goOn, "stop": .stop]) {
            request.slowPolicy = policy
        }
        request.requestKey = fields["requestKey"]?.text()
        request.expectedWork = fields["work"]?.duration()
        return request
    }

    private enum Need: String, CaseIterable { case network, power, gpu }

    private static func require(_ item: DescribedValue, _ request: inout TaskRequest) {
        switch item.choice(Need.self) {
        case .network: request.requiresNetwork = true
        case .power: request.requiresExternalPower = true
        case .gpu: request.requiredResources.insert(.gpu)
        case nil: break
        }
    }
}
