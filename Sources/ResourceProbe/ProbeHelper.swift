import FoundationEssentials
import Glibc
import OpenCLKit

/// The probing process's side: it loads the drivers, and nobody minds if they take it down.
package enum ProbeHelper {
    /// Asks `loader`, and if given `library` first, reports on standard output, and ends the process.
    ///
    /// - Parameters:
    ///   - loader: The OpenCL loader's library.
    ///   - library: The one driver to try; the environment has confined the loader to it.
    ///   - secondsToLive: When the system ends this process should nobody else have.
    package static func run(loader: String, library: String?, secondsToLive: UInt32) -> Never {
        resetSignals()
        alarm(secondsToLive)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        let report = takeStandardOutput()
        CacheFolder.prepareDrivers(folder: CacheFolder.standard())
        probe(loader: loader, library: library) { send($0, to: report) }
        send(.done, to: report)
        // Not `exit`: a driver's own clean-up may crash or hang, and has nothing left to say.
        _exit(0)
    }

    /// A crash has to end the process as that crash: the language runtime's handlers print a backtrace first, and let a
    /// signal that was raised, not caused, pass.
    private static func resetSignals() {
        for number in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGQUIT, SIGSYS, SIGALRM] {
            signal(number, SIG_DFL)
        }
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
    }

    /// Drivers print what they like on standard output; the report goes to a copy that they do not know.
    private static func takeStandardOutput() -> Int32 {
        let report = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        if nowhere >= 0 { dup2(nowhere, STDOUT_FILENO) }
        return report
    }

    private static func probe(loader: String, library: String?, send: (ProbeMessage) -> Void) {
        send(.step(.openLoader))
        let openCL: OpenCLLibrary
        do {
            openCL = try OpenCLLibrary.open(name: loader)
        } catch {
            return send(.noLoader(error.reason))
        }
        if let library {
            send(.step(.openLibrary))
            if let reason = OpenCLLibrary.reasonNotLoadable(library: library) { return send(.noLibrary(reason)) }
        }
        send(.step(.listPlatforms))
        do {
            for platform in try openCL.platforms() {
                send(.platform(name: platform.name, vendor: platform.vendor, version: platform.version))
                send(.step(.listDevices))
                for device in try platform.devices() {
                    send(.device(device.info))
                    send(.outcome(outcome(of: device, send: send)))
                }
            }
        } catch {
            send(.failed(error.description))
        }
    }

    private static func outcome(of device: Device, send: (ProbeMessage) -> Void) -> ProbeMessage.Outcome {
        guard device.info.isAvailable else { return .unavailable }
        guard device.info.hasCompiler else { return .noCompiler }
        do {
            let holds = try KnownAnswer.holds(on: device) { step in
                switch step {
                case .context: send(.step(.context))
                case .build: send(.step(.build))
                case .run: send(.step(.run))
                }
            }
            return holds ? .healthy : .wrongAnswer
        } catch {
            return .failed(error.description)
        }
    }

    private static func send(_ message: ProbeMessage, to descriptor: Int32) {
        guard var line = try? JSONEncoder().encode(message) else { return }
        line.append(UInt8(ascii: "\n"))
        var rest = [UInt8](line)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            // Nobody listens any more, so nothing is left to be done.
            guard count > 0 else { _exit(1) }
            rest = rest.dropFirst(count)
        }
    }
}
