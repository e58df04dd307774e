import TaskStore

/// What happens where a file stands at the path of an output.
enum ExistingPolicy: String, CaseIterable, Sendable {
    /// Keep what was made from the same input with the same settings; redo what is ours and outdated; leave the rest.
    case skip
    case overwrite
    /// Start nothing if any output exists.
    case fail
}

/// What an output's path means for this run.
enum Standing: Hashable, Sendable {
    /// Nothing is there, or what is there gives way.
    case make(mayReplace: Bool, foreign: FileIdentity?)
    /// Made from this input with these settings, and unchanged since.
    case current(KnownOutput)
    /// Something is there that bgrun did not make; it stays.
    case occupied
    /// Something is there, and the person asked to start nothing then.
    case refused
}

extension ExistingPolicy {
    /// What a run does about a path where `file` stands and of which the journal has `known`.
    ///
    /// `job` is given when it goes on with a stopped run: what that run made is kept under every policy.
    func standing(
        file: FileIdentity?, known: KnownOutput?, wanted: PlannedOutput, program: String, job: JobRecord?
    ) -> Standing {
        guard let file else { return .make(mayReplace: known != nil, foreign: nil) }
        let isOurs = known.map { $0.made.map { $0.identity == file } ?? ($0.foreign != file) } ?? false
        let isCurrent =
            isOurs && known?.made != nil && known?.input == wanted.input
            && known?.inputIdentity == wanted.inputIdentity && known?.settings == wanted.settings
            && known?.program == program
        let isOfThisRun = isOurs && job != nil && known?.job == job?.id && known?.run == job?.run
        if isCurrent, let known, self == .skip || isOfThisRun { return .current(known) }
        switch self {
        case .skip: return isOurs ? .make(mayReplace: true, foreign: nil) : .occupied
        case .overwrite: return .make(mayReplace: true, foreign: isOurs ? nil : file)
        case .fail: return isOfThisRun ? .make(mayReplace: true, foreign: nil) : .refused
        }
    }
}
