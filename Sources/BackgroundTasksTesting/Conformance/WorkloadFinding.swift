/// One thing that a workload does not keep to.
public struct WorkloadFinding: Hashable, Sendable, CustomStringConvertible {
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// Registration or submission was refused, or it failed though nobody disturbed it.
        case doesNotRun
        /// It never called `setTaskCompleted`.
        case neverCompleted
        /// It called `setTaskCompleted` more than once.
        case completedTwice
        /// It was asked to stop when it had no expiration handler.
        case noExpirationHandler
        /// The expiration handler took longer than the grace.
        case slowExpirationHandler
        /// It was asked to stop and was not completed within the grace.
        case graceExceeded
        /// It was asked to pause and went on.
        case pauseIgnored
        /// A pause, a promotion or a demotion ended it.
        case doesNotGoOn
        /// A later run of what was stopped does not succeed.
        case doesNotResume
        case progressFell
        /// It succeeded with less progress than its total, or with none at all.
        case progressIncomplete
        /// After stops, pauses or faults the results are not those of an undisturbed run, byte for byte.
        case outputDiffers
        /// A run that was stopped left a file among the results that is not the finished one.
        case partialFile
        /// A file is among the results that an undisturbed run does not leave.
        case temporaryFile
        /// More is left of its state when all is done than an undisturbed run leaves.
        case leftoverState
        /// It wrote, or counted progress, after it had completed its task.
        case workAfterCompletion
        /// It succeeded though a file did not fit on the volume.
        case fullVolumeIgnored
    }

    public let code: Code
    /// What was seen and in which trial, one sentence.
    public let sentence: String
    /// What would help, one sentence.
    public let fix: String

    public var description: String { "\(code.rawValue): \(sentence) \(fix)" }

    /// - Parameters:
    ///   - code: What it is about.
    ///   - seen: What was seen, without the full stop.
    ///   - trial: How the workload was treated, a few words.
    init(_ code: Code, _ seen: String, in trial: String) {
        self.code = code
        sentence = "\(seen) (\(trial))."
        fix = code.fix
    }
}

extension WorkloadFinding.Code {
    fileprivate var fix: String {
        switch self {
        case .doesNotRun: "Make the workload succeed alone before checking how it is stopped."
        case .neverCompleted: "Call setTaskCompleted(success:) on every way out, errors included."
        case .completedTwice: "Let one place complete the task, and the expiration handler only ask that place to stop."
        case .noExpirationHandler: "Set expirationHandler first thing in the launch handler, and keep it."
        case .slowExpirationHandler: "Only set a flag in the expiration handler; stop and save where the work is done."
        case .graceExceeded: "Look between two pieces of work whether to stop, and make the pieces shorter."
        case .pauseIgnored: "Call waitWhilePaused() or blockWhilePaused() between two pieces of work."
        case .doesNotGoOn: "Take a pause for a wait, and new terms for the size of the next chunk."
        case .doesNotResume: "Let a run accept whatever an earlier one may have left, however that ended."
        case .progressFell: "Set the total once, and count a piece only when its result is safe."
        case .progressIncomplete: "Count every piece, those that were done in earlier runs included."
        case .outputDiffers:
            "Save what a later run needs after each piece, together with the piece, and start from that."
        case .partialFile: "Write to the state folder, sync, and rename into the output folder."
        case .temporaryFile:
            "Write temporary files to the state folder; an atomic Data.write puts one beside the result."
        case .leftoverState: "Remove what stopped runs have left when all is done."
        case .workAfterCompletion: "Complete the task last, when all threads of the work have ended."
        case .fullVolumeIgnored: "Let errors in writing end the work, and complete it without success."
        }
    }
}
