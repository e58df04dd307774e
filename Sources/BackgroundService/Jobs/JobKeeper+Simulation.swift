import BackgroundTasks
import SchedulingCore
package import ServiceAPI
package import TaskModel

extension JobKeeper {
    /// Has something happen as a test wants it (rule 99).
    ///
    /// - Throws: ``Refusal`` where that is not allowed, or there is nothing for it to happen to.
    package func simulate(_ simulation: Simulation) throws(Refusal) {
        guard machine.allowsSimulation else {
            throw Refusal(
                code: "simulationOff", sentence: "The service does not let anything be simulated.",
                fix: "End it by bgrun service stop, and start it with \(Simulation.variable)=1.")
        }
        let job = UInt64(simulation.target).map { JobID($0) }
        switch simulation.kind {
        case .crash, .hang:
            guard let job, let process = process(job) else {
                throw Refusal(
                    code: "notRunning", sentence: "No process of a job \(simulation.target) runs.",
                    fix: "bgrun jobs shows the jobs that run.")
            }
            if simulation.kind == .crash { process.kill() } else { process.halt() }
        default:
            let problem = host.simulate(simulation) { state in
                guard let job, let job = state.scheduler.summary(job), job.state != .ended else { return nil }
                return job.id
            }
            if let problem { throw Refusal(problem) }
        }
    }
}
