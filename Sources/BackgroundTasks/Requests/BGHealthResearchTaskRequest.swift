public import Foundation

/// Asks for processing on behalf of a study; the manifest needs the grant `healthResearch`.
public final class BGHealthResearchTaskRequest: BGProcessingTaskRequest {
    /// How the data that the work reads is protected; by default it is open from the first login on.
    public var protectionTypeOfRequiredData: FileProtectionType = .completeUntilFirstUserAuthentication
}
