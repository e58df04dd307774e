package import Dispatch
public import Foundation
package import SchedulingCore
package import Locking
package import SystemConditions
import TaskModel

/// Takes requests for background work, and launches it when the machine's conditions and the room for it allow.
///
/// What may be asked for is in a manifest: ``configure(manifest:)``, ``configure(program:modes:permittedIdentifiers:grants:)``,
/// or else the file that the environment names in `BGRUN_MANIFEST`, or `bgrun-tasks.yml`, `.yaml` or `.json` beside the
/// executable or in the current folder. Register handlers, call ``activate()``, and submit.
public final class BGTaskScheduler: NSObject, Sendable {
    /// The scheduler of this process.
    public static var shared: BGTaskScheduler { standIn.withLock(\.self) ?? ofThisProcess }

    private static let ofThisProcess = BGTaskScheduler()
    /// What a test has put in the place of ``shared``.
    package static let standIn = Lock<BGTaskScheduler?>(nil)

    package let host: TaskHost
    /// Of this process, not of a test.
    let isShared: Bool
    let door = Lock(Doorway())

    private override init() {
        host = TaskHost(
            clock: SystemClock(), conditions: ConditionsMonitor.ofThisMachine(), capabilities: ProbedCapabilities(),
            inhibitor: SleepInhibitor(ConditionsMonitor.busOfThisMachine))
        isShared = true
        super.init()
    }

    /// A scheduler of its own, for tests and services.
    package init(
        manifest: Manifest?, clock: any HostClock, conditions: any ConditionsProvider,
        capabilities: any CapabilitySource, inhibitor: (any SleepInhibiting)? = nil,
        settings: SchedulerSettings = SchedulerSettings(), isStrict: Bool = false,
        handlerCalls: DispatchGroup = DispatchGroup(), handlerExecutor: (any TaskExecutor)? = nil
    ) {
        host = TaskHost(
            clock: clock, conditions: conditions, capabilities: capabilities, inhibitor: inhibitor,
            settings: settings, isStrict: isStrict, handlerCalls: handlerCalls, handlerExecutor: handlerExecutor)
        isShared = false
        super.init()
        if let manifest { host.configure(manifest) }
    }

    // MARK: Manifest

    /// Takes the program's name, modes, identifiers and grants from a file in YAML or JSON.
    ///
    /// - Parameter path: Of the manifest.
    /// - Throws: ``ManifestError`` with every mistake in the file; nothing has changed then.
    public func configure(manifest path: String) throws(ManifestError) {
        configure(try ManifestFile.read(path: path))
    }

    private func configure(_ manifest: Manifest) {
        host.configure(manifest)
        openDoorIfWanted()
    }

    /// Takes the program's name, modes, identifiers and grants from code.
    ///
    /// - Parameters:
    ///   - program: Reverse-DNS name that every identifier starts with.
    ///   - modes: Kinds of work that it asks for.
    ///   - permittedIdentifiers: Identifiers, and for continued work prefixes with `.*` at their end.
    ///   - grants: What it may use beyond that.
    /// - Throws: ``ManifestError`` with every mistake; nothing has changed then.
    public func configure(
        program: String, modes: Set<Mode>, permittedIdentifiers: [String], grants: Grants = []
    ) throws(ManifestError) {
        configure(
            try Manifest(program: program, modes: modes, permittedIdentifiers: permittedIdentifiers, grants: grants))
    }

    /// ``configure(manifest:)`` for ``shared``.
    ///
    /// - Parameter path: Of the manifest.
    /// - Throws: ``ManifestError`` with every mistake in the file; nothing has changed then.
    public static func configure(manifest path: String) throws(ManifestError) {
        try shared.configure(manifest: path)
    }

    /// ``configure(program:modes:permittedIdentifiers:grants:)`` for ``shared``.
    ///
    /// - Parameters:
    ///   - program: Reverse-DNS name that every identifier starts with.
    ///   - modes: Kinds of work that it asks for.
    ///   - permittedIdentifiers: Identifiers, and for continued work prefixes with `.*` at their end.
    ///   - grants: What it may use beyond that.
    /// - Throws: ``ManifestError`` with every mistake; nothing has changed then.
    public static func configure(
        program: String, modes: Set<Mode>, permittedIdentifiers: [String], grants: Grants = []
    ) throws(ManifestError) {
        try shared.configure(
            program: program, modes: modes, permittedIdentifiers: permittedIdentifiers, grants: grants)
    }

    /// Mistakes of the program trap instead of being noted: a second registration of an identifier, and work that is
    /// not completed when its grace ends. False by default.
    public var isStrict: Bool {
        get { host.read(\.own.isStrict) }
        set { host.perform { state, _ in state.own.isStrict = newValue } }
    }

    /// The last mistakes and oddities that were noticed, oldest first.
    public var diagnostics: [BGDiagnostic] { host.read(\.own.diagnostics) }

    // MARK: Resources

    /// What requests may require on this machine. Blocks at the first use, while drivers are tried.
    public static var supportedResources: BGContinuedProcessingTaskRequest.Resources { shared.supportedResources }

    /// What requests may require of this scheduler. Blocks at the first use, while drivers are tried.
    public var supportedResources: BGContinuedProcessingTaskRequest.Resources {
        host.learnCapabilities()
        return .init(rawValue: host.read { $0.scheduler.supportedResources.rawValue })
    }

    // MARK: Submission

    /// Asks for work, and returns when that was taken or refused; what it starts comes later on another thread.
    ///
    /// It may block while the machine is looked at for the first time: ``submitTaskRequest(_:completionHandler:)`` does
    /// that elsewhere. An identifier that still waits is replaced.
    ///
    /// - Parameter taskRequest: Is copied.
    /// - Throws: ``Error`` with every reason why it was refused; nothing is stored then. Untyped, as callers of Apple's
    ///   framework expect it.
    public func submit(_ taskRequest: BGTaskRequest) throws {
        findManifest()
        _ = try host.submit(RequestValue(taskRequest)).get()
    }

    // Closures of programs in Swift 5 mode, as Apple's documentation shows them, are not marked as sendable: hence
    // `@preconcurrency`, which changes nothing for Swift 6.
    /// Asks for work from any thread, without blocking it.
    ///
    /// - Parameters:
    ///   - taskRequest: Is copied at once.
    ///   - completionHandler: Is called on a queue of its own, with ``Error`` if the request was refused.
    @preconcurrency public func submitTaskRequest(
        _ taskRequest: BGTaskRequest, completionHandler: @escaping @Sendable ((any Swift.Error)?) -> Void
    ) {
        let value = RequestValue(taskRequest)
        DispatchQueue.global().async { [self] in
            findManifest()
            switch host.submit(value) {
            case .success: completionHandler(nil)
            case .failure(let error): completionHandler(error)
            }
        }
    }

    /// Asks for work without blocking.
    ///
    /// - Parameter taskRequest: Is copied at once.
    /// - Returns: Where it stands.
    /// - Throws: ``Error`` with every reason why it was refused; nothing is stored then.
    @discardableResult
    public func submitTaskRequest(_ taskRequest: BGTaskRequest) async throws -> Submission {
        let value = RequestValue(taskRequest)
        return try await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                findManifest()
                continuation.resume(returning: host.submit(value))
            }
        }.get()
    }

    /// What ``submit(_:)`` would answer now. Changes nothing.
    ///
    /// - Parameter taskRequest: Is copied.
    /// - Returns: The answer, and what would follow from it.
    public func dryRun(_ taskRequest: BGTaskRequest) -> Preview {
        findManifest()
        return host.preview(RequestValue(taskRequest))
    }

    /// Takes a waiting request back; what runs is not touched.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        host.cancel(identifier)
    }

    /// Takes all waiting requests of this program back; what runs is not touched.
    public func cancelAllTaskRequests() {
        host.cancelAll()
    }

    // Closures of programs in Swift 5 mode, as Apple's documentation shows them, are not marked as sendable: hence
    // `@preconcurrency`, which changes nothing for Swift 6.
    /// Copies of what was submitted and has not ended, in order of submission.
    @preconcurrency public func getPendingTaskRequests(
        completionHandler: @escaping @Sendable ([BGTaskRequest]) -> Void
    ) {
        let values = host.pending()
        host.handlerQueue.async(group: host.handlerCalls) { completionHandler(values.map(\.request)) }
    }

    /// Copies of what was submitted and has not ended, in order of submission.
    public func pendingTaskRequests() async -> sending [BGTaskRequest] {
        host.pending().map(\.request)
    }

    /// Looks for a manifest where none was given.
    func findManifest() {
        guard isShared, host.read({ $0.own.manifest == nil && $0.own.manifestProblem == nil }) else { return }
        do {
            guard let path = ManifestSearch.path() else {
                host.hasNoManifest(
                    Diagnostic(
                        code: "manifestMissing", sentence: "This program has no manifest.",
                        fix: "Call BGTaskScheduler.configure, name a file in \(ManifestSearch.variable), "
                            + "or put \(ManifestSearch.names[0]) beside the executable."))
                return
            }
            configure(try ManifestFile.read(path: path))
        } catch {
            host.hasNoManifest(
                Diagnostic(code: error.code, sentence: "The manifest was refused. \(error)", fix: error.fix))
        }
    }
}
