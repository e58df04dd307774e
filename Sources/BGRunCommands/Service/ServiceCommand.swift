import ArgumentParser
import BackgroundService
import BackgroundTasks
import CProcess
import Foundation
import Glibc
import SchedulingCore
import ServiceAPI
import ServiceClient
import SystemConditions
import TaskModel
import TaskStore

/// `bgrun service`: the service itself.
struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Run, stop or install the service that keeps jobs going.",
        discussion: """
            Nothing has to be set up: the first command that needs the service starts it, and it ends by itself when \
            nobody needs it. There is one for each user, on a Unix socket that only that user may connect to.

            EXAMPLES
              bgrun service status
              bgrun service stop
              curl --unix-socket "$(bgrun service socket)" http://localhost/v1/jobs
            """,
        subcommands: [Run.self, Status.self, Stop.self, Socket.self, Install.self, Uninstall.self])

    /// `bgrun service status`.
    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Tell whether the service runs.")

        @Flag(help: "Print JSON; null where none runs.")
        var json = false

        func run() throws {
            var status: ServiceStatus?
            do throws(ServiceClient.Failure) {
                status = try ServiceAccess.client.status()
            } catch {
                guard case .absent = error else { throw ServiceAccess.told(error) }
            }
            if json { return try StandardOutput.print(JSONText.encode(status) + "\n") }
            guard let status else {
                return try StandardOutput.print(
                    "The service does not run; the first command that needs it starts it.\n")
            }
            let draining = status.isDraining ? " It takes no new jobs." : ""
            try StandardOutput.print(
                "The service runs as process \(status.process) with \(status.active) jobs, \(status.running) of them "
                    + "at work.\(draining)\n")
        }
    }

    /// `bgrun service stop`.
    struct Stop: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop",
            abstract: "End the service: now, with what runs going on when it starts again, or when its jobs have ended."
        )

        @Flag(help: "Take no new jobs, and end when there are none left.")
        var drain = false

        func run() throws {
            let client = ServiceAccess.client
            do throws(ServiceClient.Failure) {
                let status = try client.status()
                if drain {
                    try client.drain()
                } else {
                    Self.end(status.process)
                }
            } catch {
                switch error {
                case .absent, .unreachable: return
                case .refused: throw ServiceAccess.told(error)
                }
            }
        }

        /// Returns when it has ended. Asking at the socket for that would have systemd start the next one.
        private static func end(_ process: pid_t) {
            let descriptor = bg_pidfd_open(process)
            kill(process, SIGTERM)
            // It is gone, or the kernel has no such descriptors, and nobody waits.
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&end, 1, -1) < 0 && errno == EINTR {}
        }
    }

    /// `bgrun service socket`.
    struct Socket: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "socket", abstract: "Print the path of the service's socket.")

        func run() throws {
            try StandardOutput.print(ServiceAccess.place.socket + "\n")
        }
    }

    /// `bgrun service run`.
    struct Run: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run", abstract: "Be the service, until nobody needs it.")

        @Option(
            help: .init(
                "End when nobody has needed it for so long; by default what BGRUN_IDLE_TIME says, or 60s.",
                valueName: "time"), transform: TimeSpan.parse)
        var idleTime: TimeSpan?

        @Flag(help: "Never end by itself.")
        var stay = false

        @Flag(help: .init("Tell on standard output when it is ready.", visibility: .hidden))
        var announce = false

        /// Looks, 20 ms apart, for the end of another one or its first answer.
        private static let attempts = 1_000

        func run() throws {
            let place = ServiceAccess.place
            signal(SIGPIPE, SIG_IGN)
            signal(SIGHUP, SIG_IGN)
            do throws(Refusal) {
                try place.makeFolder()
            } catch {
                throw failed(error.sentence, error.fix)
            }
            do {
                let client = ServiceClient(place)
                for _ in 0..<Self.attempts {
                    if let lock = try JobLock(path: place.lock) {
                        try serve(place)
                        return withExtendedLifetime(lock) {}
                    }
                    // Another one was quicker, or is about to be gone.
                    if (try? client.status()) != nil { return Self.announce("running") }
                    usleep(20_000)
                }
                throw failed("another one holds \(place.lock) and does not answer.", "End it.")
            } catch let error as StoreError {
                throw failed(error.sentence, error.fix)
            }
        }

        private func serve(_ place: ServicePlace) throws {
            // Its own files are for nobody else.
            let mask = umask(0o077)
            let store = try TaskStore(folder: place.stateFolder, program: Program.version)
            try FileManager.default.createDirectory(
                atPath: place.stateFolder + "/logs", withIntermediateDirectories: true)
            var machine = JobKeeper.Machine(
                clock: SystemClock(), conditions: ConditionsMonitor.ofThisMachine(),
                capabilities: ProbedCapabilities(), inhibitor: SleepInhibitor(ConditionsMonitor.busOfThisMachine),
                executable: ProcessInfo.processInfo.environment["BGRUN_EXECUTABLE"] ?? Program.path,
                settings: Self.settings, allowsSimulation: Simulation.isAllowed(ProcessInfo.processInfo.environment))
            machine.umask = mask
            let environment = ProcessInfo.processInfo.environment
            machine.energy = EnergyMeter(root: SystemRoot(environment["BGRUN_SYSTEM_ROOT"] ?? "/"))
            if let watts = environment["BGRUN_PROCESSOR_WATTS"].flatMap(Double.init), watts > 0, watts < 1_000 {
                machine.processorWatts = watts
            }
            let announce = announce
            let service = try BackgroundService(
                machine, store: store, place: place,
                options: .init(idleTime: stay ? nil : try patience()) {
                    if announce { Self.announce("ready") }
                })
            try service.run()
        }

        private func patience() throws -> Duration {
            if let idleTime { return idleTime.duration }
            guard let text = ProcessInfo.processInfo.environment["BGRUN_IDLE_TIME"] else { return .seconds(60) }
            return try TimeSpan.parse(text).duration
        }

        private static var settings: SchedulerSettings {
            var settings = SchedulerSettings()
            settings.cores = Machine.allowedCores
            // A test does not wait for as long as a person does.
            let variable = ProcessInfo.processInfo.environment["BGRUN_TEST_BACKOFF"]
            if let backoff = variable.flatMap({ try? TimeSpan.parse($0) }) { settings.backoff = backoff.duration }
            return settings
        }

        private func failed(_ sentence: String, _ fix: String) -> ExitCode {
            if announce { Self.announce("\(sentence) \(fix)") }
            return Trouble.told(sentence, fix: fix, .configuration)
        }

        /// One line for whoever started it, and nothing after it.
        private static func announce(_ line: String) {
            _ = StandardOutput.write(line + "\n")
            let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
            if null >= 0 {
                dup2(null, STDOUT_FILENO)
                close(null)
            }
        }
    }
}
