package import TaskModel

/// Hears what the work of a task tells about itself.
package protocol TaskReports: AnyObject, Sendable {
    func completed(_ job: JobID, success: Bool)
    func retitled(_ job: JobID, title: String, subtitle: String)
    func beat(_ job: JobID, phase: String)
    /// Says what a refresh was good for.
    func refreshed(_ job: JobID, _ result: BGBackgroundFetchResult)
    /// It stands still, as it was asked to.
    func paused(_ job: JobID)
    func noted(_ diagnostic: Diagnostic, job: JobID)
    /// Calls an expiration handler, away from the caller.
    func run(_ handler: @escaping @Sendable () -> Void, job: JobID)
}
