import TaskModel

/// Shares the energy of the machine among its jobs (rule 97): each gets as much of what was taken between two looks as it took of the
/// processor time that anything took, so that jobs and what is none together are what the machine counted.
struct EnergyShares {
    /// What a job, or with nil all that is none, took between two looks.
    struct Part: Equatable {
        var job: JobID?
        var joules: Double
        /// Otherwise it is estimated from processor time.
        var isMeasured: Bool
    }

    /// Of a busy processor where nothing is measured: Cloud Carbon Footprint's average for a vCPU at full load (methodology, AWS).
    static let estimatedWatts = 3.5

    /// - Parameters:
    ///   - joules: What the machine counted; nil where it counts nothing.
    ///   - busy: Seconds of all processors in which anything ran.
    ///   - jobs: Seconds of processors that each job took; what they take beyond `busy` is a matter of rounding.
    ///   - watts: Of a busy processor where nothing is counted.
    /// - Returns: A part for each job, and one for the rest where something was counted.
    static func parts(joules: Double?, busy: Double, jobs: [JobID: Double], watts: Double) -> [Part] {
        guard let joules else {
            return jobs.map { Part(job: $0.key, joules: $0.value * watts, isMeasured: false) }
        }
        let all = max(busy, jobs.values.reduce(0, +))
        var rest = joules
        var parts = jobs.map { job, seconds in
            let share = all > 0 ? joules * seconds / all : 0
            rest -= share
            return Part(job: job, joules: share, isMeasured: true)
        }
        parts.append(Part(job: nil, joules: max(0, rest), isMeasured: true))
        return parts
    }
}
