public import Foundation
package import TaskModel

extension BGTaskScheduler {
    /// Why a request was refused. Nothing was stored or started.
    ///
    /// `catch BGTaskScheduler.Error.notPermitted` tells the codes apart; ``failures`` has every check that said no.
    public struct Error: CustomNSError, LocalizedError, Hashable, Sendable, CustomStringConvertible {
        /// What the first failed check is about.
        public enum Code: Int, Hashable, Sendable {
            /// Background work is switched off for the program or for everything.
            case unavailable = 1
            /// As many requests of this kind are pending as may be.
            case tooManyPendingTaskRequests = 2
            /// The manifest does not allow it, nobody handles it, or a required resource is missing.
            case notPermitted = 3
            /// A request with the strategy `.fail` cannot start at once.
            case immediateRunIneligible = 4
        }

        /// One check that said no.
        public struct Failure: Hashable, Sendable {
            public let code: Code
            /// Stable machine code of the cause, e.g. `handlerMissing` or `noLoader`.
            public let detail: String
            /// What is wrong, one sentence.
            public let sentence: String
            /// What would help, one sentence.
            public let fix: String
        }

        public static let errorDomain = "BGTaskSchedulerErrorDomain"
        /// Pattern for ``Code/unavailable``.
        public static let unavailable = Code.unavailable
        /// Pattern for ``Code/tooManyPendingTaskRequests``.
        public static let tooManyPendingTaskRequests = Code.tooManyPendingTaskRequests
        /// Pattern for ``Code/notPermitted``.
        public static let notPermitted = Code.notPermitted
        /// Pattern for ``Code/immediateRunIneligible``.
        public static let immediateRunIneligible = Code.immediateRunIneligible

        /// Every check that failed, in the order of the checks; the first one gives the code (rule 18).
        public let failures: [Failure]
        public let code: Code

        package init(_ rejection: Rejection) {
            failures = rejection.failures.map {
                Failure(code: Code($0.code), detail: $0.detail, sentence: $0.sentence, fix: $0.fix)
            }
            code = Code(rejection.code)
        }

        /// What the first failed check found, one sentence.
        public var sentence: String { failures.first?.sentence ?? "" }
        /// What would help against the first failed check, one sentence.
        public var fix: String { failures.first?.fix ?? "" }

        public var errorCode: Int { code.rawValue }
        public var errorUserInfo: [String: Any] {
            [NSLocalizedDescriptionKey: sentence, NSLocalizedRecoverySuggestionErrorKey: fix]
        }
        public var errorDescription: String? { sentence }
        public var recoverySuggestion: String? { fix }
        public var description: String {
            failures.map { "\($0.code).\($0.detail): \($0.sentence) \($0.fix)" }.joined(separator: "\n")
        }
    }

    /// The domain of ``Error`` as an `NSError`.
    public static var errorDomain: String { Error.errorDomain }
}

/// Lets `catch` and `switch` tell errors of the scheduler apart by their codes.
public func ~= (code: BGTaskScheduler.Error.Code, error: any Error) -> Bool {
    (error as? BGTaskScheduler.Error)?.code == code
}

extension BGTaskScheduler.Error.Code {
    init(_ code: Rejection.Code) {
        switch code {
        case .unavailable: self = .unavailable
        case .tooManyPendingTaskRequests: self = .tooManyPendingTaskRequests
        case .notPermitted: self = .notPermitted
        case .immediateRunIneligible: self = .immediateRunIneligible
        }
    }
}
