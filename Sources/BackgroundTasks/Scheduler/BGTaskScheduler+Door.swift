import Foundation
import Locking
package import ProgramLink
import TaskModel

/// What other processes of the same user may ask of a program that runs.
extension BGTaskScheduler {
    /// Answers pokes from now on; nil for no longer.
    func hear(_ poked: (@Sendable ([String: String]) -> ProgramAnswer)?) {
        door.withLock { $0.poked = poked }
        openDoorIfWanted()
    }

    /// Opens the door of this process where it listens to pokes, or its environment lets tests say what happens.
    func openDoorIfWanted() {
        let environment = ProcessInfo.processInfo.environment
        let allowsSimulation = Simulation.isAllowed(environment)
        guard isShared, allowsSimulation || door.withLock({ $0.poked != nil }) else { return }
        openDoor(in: ProgramPlace(environment: environment), allowsSimulation: allowsSimulation)
    }

    /// Lets other processes ask, if there is a manifest with the program's name. A failure is noted.
    package func openDoor(in place: ProgramPlace, allowsSimulation: Bool = false) {
        if allowsSimulation { door.withLock { $0.allowsSimulation = true } }
        let program = host.read(\.program)
        guard !program.isEmpty, door.withLock({ $0.open == nil }) else { return }
        do throws(Diagnostic) {
            let open = try ProgramDoor(place, program: program) { [weak self] in
                self?.answer($0) ?? ProgramAnswer()
            }
            door.withLock { $0.open = open }
        } catch {
            host.perform { state, _ in state.note(error) }
        }
    }

    private func answer(_ request: ProgramRequest) -> ProgramAnswer {
        let (poked, allowsSimulation) = door.withLock { ($0.poked, $0.allowsSimulation) }
        switch request {
        case .poke(let userInfo):
            guard let poked else {
                return ProgramAnswer(
                    problem: Diagnostic(
                        code: "noPokeHandler", sentence: "The program does not listen to pokes.",
                        fix: "Have it call BGApplication.setRemoteNotificationHandler."))
            }
            return poked(userInfo)
        case .simulate(let simulation):
            guard allowsSimulation else {
                return ProgramAnswer(
                    problem: Diagnostic(
                        code: "simulationOff", sentence: "The program does not let anything be simulated.",
                        fix: "Start it with \(Simulation.variable)=1."))
            }
            return ProgramAnswer(problem: host.simulate(simulation))
        }
    }
}

/// The door of a scheduler, and what is known behind it.
struct Doorway: Sendable {
    var open: ProgramDoor?
    var poked: (@Sendable ([String: String]) -> ProgramAnswer)?
    var allowsSimulation = false
}
