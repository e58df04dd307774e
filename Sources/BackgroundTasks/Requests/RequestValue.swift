import Foundation
package import TaskModel

/// A request as a value: what was submitted, whatever happens to the object it came from.
package struct RequestValue: Sendable {
    package var task: TaskRequest
    /// Of research requests.
    var protectionType: FileProtectionType?

    package init(_ request: BGTaskRequest) {
        task = request.taskRequest()
        protectionType = (request as? BGHealthResearchTaskRequest)?.protectionTypeOfRequiredData
    }

    init(task: TaskRequest, protectionType: FileProtectionType? = nil) {
        self.task = task
        self.protectionType = protectionType
    }

    /// A new object that says the same.
    var request: BGTaskRequest {
        let identifier = task.identifier.rawValue
        switch task.kind {
        case .refresh:
            let request = BGAppRefreshTaskRequest(identifier: identifier)
            request.fill(from: task)
            return request
        case .processing:
            let request: BGProcessingTaskRequest
            if let protectionType {
                let research = BGHealthResearchTaskRequest(identifier: identifier)
                research.protectionTypeOfRequiredData = protectionType
                request = research
            } else {
                request = BGProcessingTaskRequest(identifier: identifier)
            }
            request.fillProcessing(from: task)
            return request
        case .continued:
            let request = BGContinuedProcessingTaskRequest(
                identifier: identifier, title: task.title, subtitle: task.subtitle)
            request.fillContinued(from: task)
            return request
        }
    }
}
