import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import Locking

let photos = "org.example.photos"

/// A machine of a program that may do everything.
func photosMachine(gpus: [SimulatedGPU] = []) throws -> SimulatedMachine {
    try SimulatedMachine(
        program: photos, modes: [.refresh, .processing, .continued],
        permittedIdentifiers: ["\(photos).fetch", "\(photos).tidy", "\(photos).export.*"], grants: [.gpu], gpus: gpus)
}

func exportRequest(_ name: String = "one") -> BGContinuedProcessingTaskRequest {
    let request = BGContinuedProcessingTaskRequest(
        identifier: "\(photos).export.\(name)", title: "Export", subtitle: "Starting")
    request.initiator = .terminal
    return request
}

/// A value that threads share.
final class Shared<Value: Sendable>: Sendable {
    private let value: Lock<Value>

    init(_ value: Value) {
        self.value = Lock(value)
    }

    var current: Value { value.withLock(\.self) }

    func change(_ change: (inout Value) -> Void) {
        value.withLock { change(&$0) }
    }
}
