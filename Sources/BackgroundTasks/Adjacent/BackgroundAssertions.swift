package import TaskModel

/// Decides how long a program that has gone to the background may finish what it holds assertions for (A40, A41).
package struct BackgroundAssertions: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Time from going to the background, with an assertion.
        package var withAssertion: Duration = .seconds(30)
        /// The same without one.
        package var without: Duration = .seconds(5)
        /// Handlers are called this long before the time is over, all together.
        package var warning: Duration = .seconds(5)

        package init() {}
    }

    package enum Action: Hashable, Sendable {
        /// Call the expiration handlers of these, once.
        case callHandlers([Int])
        /// The time is over, and these were not ended.
        case overran([Overrun])
    }

    /// An assertion that was begun and never ended.
    package struct Overrun: Hashable, Sendable {
        package var id: Int
        package var name: String

        package init(id: Int, name: String) {
            self.id = id
            self.name = name
        }
    }

    private struct Assertion: Sendable {
        var name: String
        var isWarned = false
    }

    private let limits: Limits
    private var assertions: [Int: Assertion] = [:]
    private var lastID = 0
    /// nil in the foreground.
    private var backgroundSince: Duration?
    private var endsAt: Duration?

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    package var isInBackground: Bool { backgroundSince != nil }
    /// Names of what is held, in the order of their beginning.
    package var held: [String] { assertions.sorted { $0.key < $1.key }.map(\.value.name) }

    /// - Returns: The assertion's number above 0; nil when there is no time left to run in.
    package mutating func begin(_ name: String, at now: Duration) -> Int? {
        if let since = backgroundSince {
            guard let endsAt, now < endsAt else { return nil }
            // The first one makes the longer time.
            self.endsAt = max(endsAt, since + limits.withAssertion)
        }
        lastID += 1
        assertions[lastID] = Assertion(name: name)
        return lastID
    }

    /// - Returns: What is wrong; nil when it was held.
    package mutating func end(_ id: Int) -> Diagnostic? {
        guard assertions.removeValue(forKey: id) == nil else { return nil }
        return Diagnostic(
            code: "unbalancedEnd", sentence: "Background task \(id) was ended without being begun, or twice.",
            fix: "End each background task once, and forget its identifier then.")
    }

    package mutating func wentToBackground(at now: Duration) {
        guard backgroundSince == nil else { return }
        backgroundSince = now
        endsAt = now + (assertions.isEmpty ? limits.without : limits.withAssertion)
    }

    package mutating func cameToForeground() {
        backgroundSince = nil
        endsAt = nil
        for id in assertions.keys { assertions[id]?.isWarned = false }
    }

    /// Time left to run; nil for no limit.
    package func remaining(at now: Duration) -> Duration? { endsAt.map { max($0 - now, .zero) } }

    package mutating func timePassed(at now: Duration) -> [Action] {
        guard let endsAt else { return [] }
        var actions: [Action] = []
        let unwarned = assertions.filter { !$0.value.isWarned }.keys.sorted()
        if now >= endsAt - limits.warning, !unwarned.isEmpty {
            for id in unwarned { assertions[id]?.isWarned = true }
            actions.append(.callHandlers(unwarned))
        }
        if now >= endsAt, !assertions.isEmpty {
            actions.append(
                .overran(assertions.sorted { $0.key < $1.key }.map { Overrun(id: $0.key, name: $0.value.name) }))
            assertions = [:]
        }
        return actions
    }

    /// When ``timePassed(at:)`` has something to do next; nil in the foreground and while nothing is held.
    package var nextDeadline: Duration? {
        guard let endsAt, !assertions.isEmpty else { return nil }
        return assertions.values.contains { !$0.isWarned } ? endsAt - limits.warning : endsAt
    }
}
