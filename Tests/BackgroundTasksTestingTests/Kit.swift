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

/// A folder that is gone with its last reference.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "testing-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
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
