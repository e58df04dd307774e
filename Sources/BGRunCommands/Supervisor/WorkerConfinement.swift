import ChunkedCompute
import Confinement
import Foundation
import Glibc
import ImageExport
import Inference
import JobLink
import OpenCLKit
import ResourceProbe
import SystemText

/// How a worker gives up its rights before its first item.
///
/// Inputs come open, one with each item, so that a worker has no right over a folder of inputs: one of ten thousand named
/// files needs no rule of its own, nor does a file that a link leads to. Outputs are made by the worker, in the folder
/// that the supervisor opened: that is the one place it may write to, and it cannot read there.
enum WorkerConfinement {
    /// What a worker is there for.
    enum Start {
        /// What the work is, where the outputs go, by what an item begins that was handed out ahead, and the model's
        /// weights where they were laid out before.
        case items(WorkerTerms.Work, OutputFolder, BeginPermit, WeightEntry?)
        case layingOut(LayingOut)
    }

    /// Waits for the terms and takes them. Descriptors that were inherited are closed before.
    ///
    /// - Returns: nil when the supervisor has gone instead.
    static func begin(_ channel: PacketChannel) throws -> Start? {
        var descriptors: [Int32] = []
        let received = channel.receive(HostMessage.self, waiting: true, descriptors: &descriptors)
        guard case .message(let message) = received, let first = descriptors.first else { return nil }
        switch message {
        case .confine(let terms):
            guard descriptors.count > 1 else { return nil }
            let outputs = try OutputFolder(path: terms.outputFolder, adopting: first)
            try confine(
                to: grants(terms, folder: first, ProcessInfo.processInfo.environment), mayExecute: terms.mayUseDevice)
            let weights = entry(descriptors.dropFirst(2).first, terms.weights)
            return .items(terms.work, outputs, BeginPermit(adopting: descriptors[1]), weights)
        case .layOut(let order):
            try confine(to: DriverPlaces.libraries + order.model.files.map { Grant($0, .read) }, mayExecute: false)
            return .layingOut(LayingOut(order: order, sheet: first, known: descriptors.dropFirst().first))
        default: return nil
        }
    }

    private static func confine(to grants: [Grant], mayExecute: Bool) throws {
        do throws(ConfinementFailure) {
            try Confinement.confine(to: grants, mayExecute: mayExecute)
        } catch {
            StandardError.write("bgrun: \(error)\n")
            throw ExitStatus.bug.code
        }
    }

    private static func entry(_ descriptor: Int32?, _ key: String?) -> WeightEntry? {
        guard let descriptor else { return nil }
        defer { close(descriptor) }
        return key.flatMap { Digest(hexadecimal: $0) }.flatMap { WeightEntry(descriptor: descriptor, key: $0) }
    }

    private static func grants(_ terms: WorkerTerms, folder: Int32, _ environment: [String: String]) -> [Grant] {
        var grants = DriverPlaces.libraries + [Grant(descriptor: folder, .produce)]
        grants += terms.work.files.map { Grant($0, .read) }
        guard terms.mayUseDevice else { return grants }
        let registered = ICDCatalogue.read(environment: environment, root: "").entries.map(\.library)
        grants += DriverPlaces.drivers + DriverPlaces.named(by: environment, libraries: registered)
        if let cache = CacheFolder.standard() {
            CacheFolder.prepareDrivers(folder: cache)
            grants.append(Grant(cache, .keep))
        }
        return grants
    }
}

/// A test's hook: what a hostile picture would try once it had taken over its decoder.
enum WorkerEscapes {
    /// Tries what `BGRUN_TEST_ESCAPES` lists, `VERB:TARGET` by spaces, on inputs whose path contains
    /// `BGRUN_TEST_ESCAPE_ON`.
    ///
    /// - Returns: A failed item whose reason has a word for each attempt; nil for other inputs.
    static func result(of input: String, _ environment: [String: String]) -> ItemResult? {
        guard let text = environment["BGRUN_TEST_ESCAPE_ON"], input.contains(text) else { return nil }
        let attempts = (environment["BGRUN_TEST_ESCAPES"] ?? "").split(separator: " ").map(String.init)
        let outcomes = attempts.map { attempt -> String in
            let parts = attempt.split(separator: ":", maxSplits: 1).map(String.init)
            errno = 0
            let worked = works(parts[0], parts.count > 1 ? parts[1] : "")
            return "\(attempt)=\(worked ? "done" : String(cString: strerror(errno)))"
        }
        var result = ItemResult(status: .failed)
        result.failure = .init(code: "testEscapes", reason: outcomes.joined(separator: "; "))
        return result
    }

    private static func works(_ verb: String, _ target: String) -> Bool {
        switch verb {
        case "read": opens(target, O_RDONLY)
        case "write": opens(target, O_WRONLY | O_CREAT)
        case "remove": unlink(target.systemBytes) == 0
        case "descriptor": fcntl(Int32(target) ?? -1, F_GETFD) >= 0
        case "list": opendir(target.systemBytes).map { closedir($0) } != nil
        case "run": starts(target)
        case "abandon": opens("\(target)/.bgrun-\(getpid())-1", O_WRONLY | O_CREAT) && raise(SIGKILL) == 0
        case "signal": kill(getppid(), SIGCONT) == 0
        case "tcp": socketWorks(AF_INET, SOCK_STREAM)
        case "udp": socketWorks(AF_INET, SOCK_DGRAM)
        case "unix": socketWorks(AF_UNIX, SOCK_STREAM)
        default: false
        }
    }

    private static func opens(_ path: String, _ flags: Int32) -> Bool {
        let fd = open(path.systemBytes, flags | O_CLOEXEC, 0o600)
        if fd >= 0 { close(fd) }
        return fd >= 0
    }

    private static func socketWorks(_ family: Int32, _ kind: __socket_type) -> Bool {
        let fd = socket(family, Int32(kind.rawValue), 0)
        if fd >= 0 { close(fd) }
        return fd >= 0
    }

    private static func starts(_ program: String) -> Bool {
        var process = pid_t()
        let arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program.systemBytes), nil]
        defer { arguments.forEach { free($0) } }
        let status = posix_spawn(&process, program.systemBytes, nil, nil, arguments, environ)
        if status == 0 { waitpid(process, nil, 0) }
        errno = status
        return status == 0
    }
}
