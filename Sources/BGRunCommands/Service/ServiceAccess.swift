import ArgumentParser
import Foundation
import Glibc
import ServiceAPI
import ServiceClient
import TaskModel

/// How commands reach the service of this user.
enum ServiceAccess {
    static var place: ServicePlace {
        let environment = ProcessInfo.processInfo.environment
        return ServicePlace(stateFolder: StateFolder.path(environment), environment: environment)
    }

    /// Some job was kept on this machine.
    static var hasState: Bool { FileManager.default.fileExists(atPath: place.stateFolder + "/logs") }

    static var client: ServiceClient { ServiceClient(place) }

    /// Asks a service that runs, or else one that is started for it.
    ///
    /// - Throws: The exit status, when the person has been told why.
    static func ask<Answer>(
        _ question: (ServiceClient) throws(ServiceClient.Failure) -> Answer
    ) throws(ExitCode) -> Answer {
        let client = client
        do throws(ServiceClient.Failure) {
            return try question(client)
        } catch {
            // One that cannot be reached may just be ending; the one that takes its place has its jobs.
            if case .refused = error { throw told(error) }
        }
        do throws(Refusal) {
            try ServiceStarter.start(at: client.place)
        } catch {
            throw told(.refused(error))
        }
        do throws(ServiceClient.Failure) {
            return try question(client)
        } catch {
            throw told(error)
        }
    }

    /// Submits a job; for a person who waits for it, finds the one that the same command began: after a loss of its service
    /// a job goes on by itself.
    ///
    /// - Returns: The job, and whether it was there already.
    /// - Throws: The exit status, when the person has been told why. Other commands for the same work, which might want it
    ///   done in another way, are refused.
    static func submit(
        _ submission: JobSubmission, _ identifier: TaskIdentifier
    ) throws(ExitCode) -> (job: JobDocument, isFound: Bool) {
        var running: JobDocument?
        let job = try ask { client throws(ServiceClient.Failure) -> JobDocument? in
            do throws(ServiceClient.Failure) {
                return try client.submit(submission)
            } catch {
                guard case .refused(let refusal) = error, refusal.code == "alreadyRunning" else { throw error }
                running = try client.jobs(all: false).first {
                    $0.identifier == identifier.rawValue && $0.state.isActive
                }
                if running == nil { throw error }
                return nil
            }
        }
        if let job { return (job, false) }
        if let running, submission.foreground, running.folder == submission.folder,
            JobFlags.work(in: running.arguments) == JobFlags.work(in: submission.arguments)
        {
            return (running, true)
        }
        let id = running.map { "\($0.id)" } ?? ""
        throw Trouble.told(
            "nothing was started: alreadyRunning: the same work is running as job \(id).",
            fix: "bgrun attach \(id) shows it.", .stoppedEarly)
    }

    /// Tells why something was not done.
    static func told(_ failure: ServiceClient.Failure) -> ExitCode {
        switch failure {
        case .absent:
            return Trouble.told("the service has ended.", fix: "Give the command again.", .stoppedEarly)
        case .unreachable(let reason):
            return Trouble.told("\(reason).", fix: "--in-process runs without the service.", .unavailable)
        case .refused(let refusal):
            guard let rejection = refusal.rejection else {
                return Trouble.told(refusal.sentence, fix: refusal.fix, ExitStatus.of(refusal))
            }
            StandardError.write("bgrun: nothing was started.\n")
            for failure in rejection.failures {
                StandardError.write("  \(failure.detail): \(failure.sentence) \(failure.fix)\n")
            }
            return ExitStatus.of(rejection).code
        }
    }
}

extension ExitStatus {
    fileprivate static func of(_ refusal: Refusal) -> ExitStatus {
        switch refusal.code {
        case "noSuchJob", "noFolder", "noLog", "notRunning", "notWaiting", "deviceUnused", "unknownCondition",
            "notLaunched":
            .missingInput
        case "jobEnded", "notResumable", "noCommand", "nulByte", "badNumber", "badDays": .usage
        case "draining", "busy", "lost": .stoppedEarly
        case "writeFailed": .writeFailed
        case "otherUser", "simulationOff": .notPermitted
        case "runtimeFolder", "serviceNotStarted", "damaged", "cannotOpen", "newerVersion", "otherVersion":
            .configuration
        default: .bug
        }
    }
}

/// The number of a job, as `bgrun jobs` lists it.
struct JobArgument: ParsableArguments {
    @Argument(help: .init("The job's number, as bgrun jobs shows it.", valueName: "id"))
    var id: UInt64
}
