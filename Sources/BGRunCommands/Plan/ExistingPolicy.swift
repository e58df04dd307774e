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
    case current(MadeRecord)
    /// What is there stays: bgrun did not make it, or made it from another input that is still there.
    case occupied(madeFrom: String?)
    /// Something is there, and the person asked to start nothing then.
    case refused
}

extension Standing {
    /// Why there is no output at a path that is ``occupied(madeFrom:)``, one sentence.
    static func occupation(of path: String, madeFrom input: String?) -> String {
        let cause = input.map { "was made from \($0)" } ?? "exists and is not known to be made by bgrun"
        return "\(path) \(cause); --existing overwrite replaces it"
    }
}

extension ExistingPolicy {
    /// As ``standing(file:known:wanted:program:job:)``, for an output that has one input: what was made from another one
    /// that is still there stays.
    func standingOfPicture(
        file: FileIdentity?, known: KnownOutput?, wanted: PlannedOutput, program: String, job: JobRecord?
    ) -> Standing {
        let standing = standing(file: file, known: known, wanted: wanted, program: program, job: job)
        guard self == .skip, case .make = standing, let file, let source = known?.source(of: file),
            let key = FileKey(ofFileAt: source), key != FileKey(ofFileAt: wanted.input)
        else { return standing }
        return .occupied(madeFrom: source)
    }

    /// What a run does about a path where `file` stands and of which the journal has `known`.
    ///
    /// `job` is given when it goes on with a stopped run: what that run made is kept under every policy.
    func standing(
        file: FileIdentity?, known: KnownOutput?, wanted: PlannedOutput, program: String, job: JobRecord?
    ) -> Standing {
        guard let file else { return .make(mayReplace: known?.intent != nil, foreign: nil) }
        let isOurs = known?.wrote(file) ?? false
        let made = known?.made.flatMap { $0.output.identity == file ? $0 : nil }
        let isOfThisRun = made != nil && job != nil && made?.job == job?.id && made?.run == job?.run
        if let made, made.isCurrent(for: wanted, program: program), self == .skip || isOfThisRun {
            return .current(made)
        }
        switch self {
        case .skip: return isOurs ? .make(mayReplace: true, foreign: nil) : .occupied(madeFrom: nil)
        case .overwrite: return .make(mayReplace: true, foreign: isOurs ? nil : file)
        case .fail:
            // What a stopped run of this job left unfinished is no obstacle to going on with it.
            return isOurs && job != nil ? .make(mayReplace: true, foreign: nil) : .refused
        }
    }
}

extension KnownOutput {
    /// The input of this program's work that stands at the path.
    fileprivate func source(of file: FileIdentity) -> String? {
        // An intent may be that of a run which was killed before it replaced what is there.
        made?.output.identity == file ? made?.input : intent?.input
    }
}

extension MadeRecord {
    /// The same input, settings and program would make the same bytes again.
    fileprivate func isCurrent(for wanted: PlannedOutput, program: String) -> Bool {
        input == wanted.input && inputIdentity == wanted.inputIdentity && settings == wanted.settings
            && self.program == program
    }
}
