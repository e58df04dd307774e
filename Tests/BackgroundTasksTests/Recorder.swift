import BackgroundTasks
import BackgroundTasksTesting
import Dispatch
import Foundation
import Locking
import Testing

/// Collects what handlers saw, from any thread.
final class Recorder<Value: Sendable>: Sendable {
    private let collected = Lock<[Value]>([])

    func add(_ value: Value) {
        collected.withLock { $0.append(value) }
    }

    var values: [Value] { collected.withLock { $0 } }
}

/// A machine of the program `org.example.photos`, which may do everything.
func photosMachine(
    conditions: SimulatedConditions = .calm, gpus: [SimulatedGPU] = [], grants: BGTaskScheduler.Grants = [.gpu],
    modes: Set<BGTaskScheduler.Mode> = [.refresh, .processing, .continued],
    identifiers: [String] = ["refresh", "tidy", "index", "export.*", "upload"], isStrict: Bool = false,
    inhibitor: SimulatedInhibitor = SimulatedInhibitor()
) throws -> SimulatedMachine {
    let manifest = try Manifest(
        program: "org.example.photos", modes: modes, permittedIdentifiers: identifiers.map(id), grants: grants)
    return SimulatedMachine(manifest, conditions: conditions, gpus: gpus, isStrict: isStrict, inhibitor: inhibitor)
}

extension SimulatedConditions {
    /// A calm machine on battery.
    static var roaming: Self {
        var conditions = Self.calm
        conditions.power = .battery
        conditions.batteryPercent = 80
        return conditions
    }
}

func id(_ name: String) -> String { "org.example.photos.\(name)" }

func exportRequest(_ name: String = "one") -> BGContinuedProcessingTaskRequest {
    let request = BGContinuedProcessingTaskRequest(
        identifier: id("export.\(name)"), title: "Export", subtitle: "Starting")
    request.initiator = .terminal
    return request
}

/// The error that a submission throws.
func refusal(
    _ scheduler: BGTaskScheduler, _ request: BGTaskRequest, sourceLocation: SourceLocation = #_sourceLocation
) throws -> BGTaskScheduler.Error {
    try #require(throws: BGTaskScheduler.Error.self, sourceLocation: sourceLocation) { try scheduler.submit(request) }
}
