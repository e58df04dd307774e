/// What must hold after every step, whatever happens.
package enum Invariant: String, CaseIterable, Sendable {
    /// Every admitted request is waiting, running or ended, in the scheduler's view and in the host's.
    case nothingLost
    /// One live launch at most of a request and of an identifier; attempts count up.
    case nothingTwice
    /// Each run of an entry ends once, with the outcome that its events call for.
    case oneOutcome
    /// No start without what it needs of the machine.
    case conditions
    /// No start before its time, for a program that may not run, or without a slot, memory or device.
    case room
    /// Each wait has its reasons, all of them, and no others.
    case reasons
    /// What could start has started.
    case workConserving
    /// Told in time, one deadline for all, and over at the deadline.
    case grace
    /// One start/stop pair a minute at most by one condition.
    case flapping
    /// In a calm world everything waiting starts and ends.
    case starvation
    /// Foreground work does not wait for background work that could make room.
    case foregroundFirst
    /// The next deadline lies ahead.
    case deadlines
    /// Silent work and work over its time is stopped.
    case silence
    /// Running work knows the terms it is to run by.
    case terms
    /// Submissions are answered as they are carried out.
    case answers
    /// The times for the reasons of a wait add up to it.
    case waitTimes
    /// The time left is a range, and nothing when nothing is left.
    case timeLeft
    /// Nothing gives way where that helps nobody.
    case inVain
    /// Nothing starts or goes on while the machine leaves, and continued work that this stopped waits for its return.
    case leaving
    /// Work that was lost with its process or its device is tried again, a few times, later each time.
    case retries
}

/// An invariant that did not hold, and how to see it again.
package struct Violation: Error, Sendable, CustomStringConvertible {
    package var seed: UInt64
    package var step: Int
    package var invariant: Invariant
    package var job: UInt64?
    package var sentence: String
    /// The last events of the job concerned, oldest first.
    package var trace: [String] = []

    package var description: String {
        let events = trace.isEmpty ? "" : "\n" + trace.map { "    " + $0 }.joined(separator: "\n")
        return """
            invariant \(invariant.rawValue) broken at step \(step) of seed \(seed)\
            \(job.map { ", job \($0)" } ?? ""): \(sentence)\(events)
            replay: BGRUN_SIMULATION_SEED=\(seed) swift test -c release --filter SchedulerSimulation
            """
    }
}
