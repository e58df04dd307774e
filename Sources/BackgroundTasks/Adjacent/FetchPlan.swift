/// Decides when a program that uses the old fetch may fetch next, on the wall clock (A42).
package struct FetchPlan: Sendable {
    /// nil is never.
    private var minimum: Duration?
    private var lastBegin: Duration?

    package init() {}

    package var isOn: Bool { minimum != nil }

    /// - Parameter minimum: Least time between two fetches; nil for never, which is how it begins.
    package mutating func setMinimum(_ minimum: Duration?) {
        self.minimum = minimum.map { max($0, .zero) }
    }

    package mutating func began(at wall: Duration) {
        lastBegin = wall
    }

    /// Earliest begin of the next fetch; nil for never. What fetches were good for lengthens it elsewhere (rule 57).
    package func nextBegin(at wall: Duration) -> Duration? {
        minimum.map { max((lastBegin ?? wall - $0) + $0, wall) }
    }
}
