import ArgumentParser
import Foundation
import ProgramLink
import TaskModel

/// How commands reach programs of this user that run.
enum ProgramAccess {
    static var caller: ProgramCaller { ProgramCaller(ProgramPlace(environment: ProcessInfo.processInfo.environment)) }

    /// - Returns: The answers of all its schedulers that took the request.
    /// - Throws: The exit status, when the person has been told that none of them did, and why.
    static func ask(_ program: String, _ request: ProgramRequest) throws(ExitCode) -> [ProgramAnswer] {
        do throws(Diagnostic) {
            let answers = try caller.ask(program, request)
            let taken = answers.filter { $0.problem == nil }
            if taken.isEmpty, let problem = answers.lazy.compactMap(\.problem).first { throw problem }
            return taken
        } catch {
            throw Trouble.told(error.sentence, fix: error.fix, ExitStatus.of(error))
        }
    }
}

extension ExitStatus {
    fileprivate static func of(_ problem: Diagnostic) -> ExitStatus {
        switch problem.code {
        case "programNotRunning", "noPokeHandler": .unavailable
        case "simulationOff": .notPermitted
        case "programFolder": .configuration
        default: .missingInput
        }
    }
}
