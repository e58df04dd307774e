import Foundation
import ServiceAPI
import TaskModel

extension JobSubmission {
    /// What the scheduler is asked.
    func request(program: String) -> TaskRequest {
        let gpu: ComputeResources = .gpu
        return TaskRequest(
            identifier: TaskIdentifier("\(program).\(name.isEmpty ? "job" : name)"), kind: mode, title: title,
            subtitle: subtitle, earliestBegin: earliestBegin.map { .seconds(clamping: $0) },
            requiresNetwork: requiresNetwork,
            requiresExternalPower: requiresExternalPower, requiresIdle: requiresIdle,
            strategy: failsWithoutRoom ? .fail : .queue, requiredResources: requiresGPU ? gpu : [],
            preferredResources: prefersGPU ? gpu : [], claim: .init(memoryBytes: memoryBytes), initiator: initiator,
            requestKey: requestKey)
    }
}
