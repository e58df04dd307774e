import Foundation
import Glibc
import ServiceAPI
import ServiceClient

/// A service of the measurement's own, with a state folder of its own, ended with it.
final class BenchService: Sendable {
    let folder: String
    let bgrun: String
    let environment: [String: String]
    let client: ServiceClient
    private let place: ServicePlace

    /// - Throws: ``ProcessError`` where there can be no folder for it.
    init(bgrun: String?) throws {
        self.bgrun = bgrun ?? Executables.bgrun
        folder = NSTemporaryDirectory() + "bgrun-bench-" + UUID().uuidString.prefix(8)
        for name in ["state", "cache", "run"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        // Where a person has a systemd manager, it is found by the folder for what runs, and gives jobs their share.
        environment = ["XDG_RUNTIME_DIR": folder + "/run"].merging(ProcessInfo.processInfo.environment) { $1 }
            .merging([
                "XDG_STATE_HOME": folder + "/state", "XDG_CACHE_HOME": folder + "/cache", "BGRUN_IN_PROCESS": "",
                "BGRUN_IDLE_TIME": "1h",
            ]) { $1 }
        place = ServicePlace(stateFolder: folder + "/state/bgrun", environment: environment)
        client = ServiceClient(place)
    }

    /// Ends the service and its jobs, and removes what there is of it.
    func end() {
        _ = try? run(["service", "stop"])
        // What cannot be removed stays in the folders for temporary files.
        for folder in [place.folder, folder] { _ = try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Runs a command to its end.
    ///
    /// - Returns: What it wrote to its standard output.
    /// - Throws: ``ProcessError`` when it leaves a status other than 0.
    @discardableResult
    func run(_ arguments: [String]) throws(ProcessError) -> String {
        let name = "\(folder)/\(UUID().uuidString)"
        defer {
            unlink(name)
            unlink(name + ".errors")
        }
        let program = try SessionProgram(
            [bgrun] + arguments, environment: environment, output: name, errors: name + ".errors")
        let status = program.wait()
        guard status == 0 else {
            let errors = (try? String(contentsOfFile: name + ".errors", encoding: .utf8)) ?? ""
            throw ProcessError(description: "bgrun \(arguments.joined(separator: " ")): status \(status): \(errors)")
        }
        return (try? String(contentsOfFile: name, encoding: .utf8)) ?? ""
    }

    /// Submits work to the background.
    ///
    /// - Returns: The job's number.
    func submit(_ work: [String], to out: String) throws(ProcessError) -> UInt64 {
        let text = try run(work + ["--out", out, "--detach"])
        guard let id = UInt64(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ProcessError(description: "bgrun \(work.first ?? "") --detach said \"\(text)\"")
        }
        return id
    }

    /// Process of the service.
    func process() throws(ProcessError) -> pid_t {
        do throws(ServiceClient.Failure) {
            return try client.status().process
        } catch {
            throw ProcessError(description: "the service does not answer: \(error)")
        }
    }

    /// Asks for a job until it is so.
    ///
    /// - Throws: ``ProcessError`` when it does not come to be within a minute.
    @discardableResult
    func waitFor(
        _ id: UInt64, _ what: String, _ isSo: (JobDocument) -> Bool
    ) throws(ProcessError) -> JobDocument {
        for _ in 0..<12_000 {
            do throws(ServiceClient.Failure) {
                let job = try client.job(id)
                if isSo(job) { return job }
                if job.state == .ended {
                    throw ServiceClient.Failure.refused(
                        Refusal(code: "ended", sentence: job.outcome ?? "", fix: job.text ?? ""))
                }
            } catch {
                throw ProcessError(description: "job \(id) does not come to \(what): \(error)")
            }
            usleep(5_000)
        }
        throw ProcessError(description: "job \(id) does not come to \(what)")
    }

    /// - Throws: ``ProcessError`` when the service refuses.
    func ask(_ id: UInt64, _ verb: JobVerb) throws(ProcessError) {
        do throws(ServiceClient.Failure) {
            try client.ask(id, verb)
        } catch {
            throw ProcessError(description: "\(verb) of job \(id): \(error)")
        }
    }
}
