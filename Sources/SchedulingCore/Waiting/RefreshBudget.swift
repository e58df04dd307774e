import TaskModel

/// How often one program may refresh: quick and useful runs bring the next one nearer, overruns and failures push it
/// away (rule 57).
package struct RefreshBudget: Sendable {
    /// What a run was good for, as its program said.
    package enum Result: Hashable, Sendable {
        case newData, noData, failed
        /// It did not end within its time.
        case overran
    }

    package struct Limits: Hashable, Sendable {
        package var shortest: Duration = .seconds(600)
        package var initial: Duration = .seconds(900)
        package var longest: Duration = .seconds(14_400)
        /// Runs shorter than this count as quick.
        package var quick: Duration = .seconds(15)

        package init() {}
    }

    private let limits: Limits
    /// Least time between the starts of two refreshes.
    package private(set) var interval: Duration
    private var lastStart: Duration?

    package init(limits: Limits = Limits()) {
        self.limits = limits
        interval = limits.initial
    }

    package mutating func started(at now: Duration) {
        lastStart = now
    }

    package mutating func ended(_ result: Result, after length: Duration) {
        // Quarters keep the arithmetic exact.
        let quarters: Int =
            switch result {
            case .newData: length < limits.quick ? 3 : 4
            case .noData: 5
            case .failed: 6
            case .overran: 8
            }
        interval = min(max(interval * quarters / 4, limits.shortest), limits.longest)
    }

    /// The next refresh may not start before; nil when none has run.
    package var notBefore: Duration? { lastStart.map { $0 + interval } }
}
