import SchedulingCore
import TaskModel

/// Makes up programs, requests, machines and tasks.
struct WorldGenerator: Sendable {
    static let gibibyte = 1 << 30

    static let calm = Conditions(
        power: .external, batteryPercent: 95, lowPowerMode: false, thermal: .nominal, cpuPressure: 1, ioPressure: 0,
        memoryPressure: 0, availableMemoryBytes: 16 * gibibyte, totalMemoryBytes: 16 * gibibyte,
        freeDiskBytes: 100 * gibibyte, network: .unmetered, userIdle: true, foreignGPULoad: 0)

    static func programs(_ dice: inout Dice) -> [ModelProgram] {
        let count = dice.percent(70) ? dice.number(5...12) : dice.number(13...50)
        return (0..<count).map { index in
            let name = "org.sim.p\(index)"
            var modes: Set<TaskKind> = Set(TaskKind.allCases)
            if dice.percent(10) { modes = [dice.pick(TaskKind.allCases)] }
            let single = ["a", "b", "c", "d"]
            var permitted = single.map { IdentifierPattern("\(name).\($0)") }
            var names = single
            if modes.contains(.continued) {
                permitted.append(IdentifierPattern("\(name).cont.*"))
                names += (0..<5).map { "cont.\($0)" }
            }
            let manifest = ProgramManifest(
                program: name, modes: modes, permitted: permitted, grants: dice.percent(85) ? .gpu : [])
            return ModelProgram(manifest: manifest, usesHandlers: dice.percent(20), names: names)
        }
    }

    static func devices(_ dice: inout Dice) -> [ModelDevice] {
        (0..<dice.below(4)).map { index in
            let device = ComputeDevice(
                id: "gpu\(index)", name: "GPU \(index)", memoryBytes: dice.number(2...12) * gibibyte,
                drawsDisplay: index == 0)
            return ModelDevice(device: device, isPresent: dice.percent(80))
        }
    }

    static func settings(_ dice: inout Dice) -> SchedulerSettings {
        var settings = SchedulerSettings()
        settings.cpuSlots = dice.number(1...4)
        settings.cores = dice.pick([1, 2, 4, 8])
        settings.maxEnded = dice.pick([3, 20, 40])
        if dice.percent(40) { settings.processingTime = .seconds(dice.number(60...900)) }
        return settings
    }

    static func request(of program: ModelProgram, wall: Duration, _ dice: inout Dice) -> TaskRequest {
        let kind = dice.pick([TaskKind.continued, .continued, .processing, .processing, .refresh])
        let name = dice.percent(97) ? dice.pick(program.names) : "unknown"
        var request = TaskRequest(identifier: TaskIdentifier("\(program.name).\(name)"), kind: kind, title: name)
        if dice.percent(25) { request.earliestBegin = wall + .seconds(dice.number(-1_800...5_400)) }
        request.requiresNetwork = dice.percent(20)
        request.requiresExternalPower = dice.percent(20)
        request.requiresIdle = dice.percent(60)
        if dice.percent(12) {
            request.mustBeKnown = ConditionSet((0...dice.below(3)).map { _ in dice.pick(ConditionKind.allCases) })
        }
        if dice.percent(15) { request.strategy = .fail }
        if dice.percent(20) {
            request.requiredResources = .gpu
        } else if dice.percent(25) {
            request.preferredResources = .gpu
        }
        if dice.percent(30) { request.claim.memoryBytes = dice.number(1...24) * (gibibyte / 8) }
        if dice.percent(4) { request.claim.memoryBytes = dice.number(4...18) * gibibyte }
        if dice.percent(60) { request.claim.deviceMemoryBytes = dice.number(1...32) * (gibibyte / 8) }
        if dice.percent(10) { request.devices.excluded = ["gpu\(dice.below(3))"] }
        if dice.percent(10) { request.devices.avoidsDisplay = true }
        if dice.percent(10) { request.devices.ordered = ["gpu\(dice.below(3))", "gpu\(dice.below(3))"] }
        request.initiator = dice.pick([.terminal, .terminal, .dashboard, .script, .schedule])
        if dice.percent(20) { request.slowPolicy = .stop }
        if dice.percent(10) { request.requestKey = "key\(dice.below(6))" }
        return request
    }

    static func behaviour(_ request: TaskRequest, _ dice: inout Dice) -> ModelJob.Behaviour {
        var behaviour = ModelJob.Behaviour(
            work: dice.skewed(upTo: .seconds(1_800)), between: dice.milliseconds(500...40_000))
        behaviour.isSilent = dice.percent(6)
        behaviour.ignoresPause = dice.percent(10)
        behaviour.pauseDelay = dice.percent(80) ? dice.milliseconds(0...900) : dice.milliseconds(0...9_000)
        behaviour.ignoresExpiry = dice.percent(15)
        behaviour.expiryDelay = dice.milliseconds(0...5_500)
        behaviour.succeeds = dice.percent(85)
        behaviour.knowsTotal = dice.percent(85)
        return behaviour
    }

    /// Changes one to three values, around the numbers at which they matter, most often to calm ones.
    static func change(_ now: inout Conditions, _ dice: inout Dice) {
        for _ in 0...dice.below(3) {
            let kind = dice.below(12)
            if dice.percent(8) {
                clear(kind, in: &now)
            } else {
                set(kind, in: &now, isCalm: dice.percent(60), &dice)
            }
        }
    }

    static func clear(_ kind: Int, in now: inout Conditions) {
        switch kind {
        case 0: now.power = nil
        case 1: now.batteryPercent = nil
        case 2: now.lowPowerMode = nil
        case 3: now.thermal = nil
        case 4: now.cpuPressure = nil
        case 5: now.ioPressure = nil
        case 6: now.memoryPressure = nil
        case 7: now.availableMemoryBytes = nil
        case 8: now.freeDiskBytes = nil
        case 9: now.network = nil
        case 10: now.userIdle = nil
        default: now.foreignGPULoad = nil
        }
    }

    /// Sets one value of the twelve, to one that lets all work run or to any.
    static func set(_ kind: Int, in now: inout Conditions, isCalm: Bool, _ dice: inout Dice) {
        let mebibyte = 1_048_576
        switch kind {
        case 0: now.power = isCalm ? .external : .battery
        case 1: now.batteryPercent = isCalm ? 80 : dice.pick([5, 19, 20, 25, 29, 30, 50])
        case 2: now.lowPowerMode = !isCalm
        case 3: now.thermal = isCalm ? .nominal : dice.pick([.fair, .serious, .critical, .critical])
        case 4: now.cpuPressure = isCalm ? 3 : dice.pick([39, 40, 45, 60, 61, 90])
        case 5: now.ioPressure = isCalm ? 3 : dice.pick([39, 40, 45, 60, 61, 90])
        case 6: now.memoryPressure = isCalm ? 3 : dice.pick([9, 10, 15, 20, 21, 40])
        case 7:
            now.availableMemoryBytes =
                (isCalm ? dice.number(4...16) * 1_024 : dice.pick([200, 511, 600, 700, 768, 1_500, 3_000])) * mebibyte
        case 8: now.freeDiskBytes = (isCalm ? 100_000 : dice.pick([10, 255, 300, 511, 512, 2_000])) * mebibyte
        case 9: now.network = isCalm ? .unmetered : dice.pick([Conditions.Network.none, .metered, .routed])
        case 10: now.userIdle = isCalm
        default: now.foreignGPULoad = isCalm ? 0 : dice.pick([30, 31, 50, 51, 90])
        }
    }
}
