package import TaskModel

/// What another process of the same user may ask of a program that runs.
package enum ProgramRequest: Codable, Hashable, Sendable {
    /// There is something for it.
    case poke([String: String])
    /// A test has something happen to it.
    case simulate(Simulation)
}

package struct ProgramAnswer: Codable, Hashable, Sendable {
    /// Why nothing came of it.
    package var problem: Diagnostic?
    /// Seconds until the program hears of a poke; nil when it has heard.
    package var delay: Double?

    package init(problem: Diagnostic? = nil, delay: Double? = nil) {
        self.problem = problem
        self.delay = delay
    }
}
