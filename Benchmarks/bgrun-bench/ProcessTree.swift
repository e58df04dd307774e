import CBenchProcess
import Foundation

/// One program to start.
struct Invocation: Sendable {
    /// Path of the program.
    var program: String
    var arguments: [String]
    /// Added to this process's own variables.
    var environment: [String: String] = [:]
    /// Folder to start in; nil for this process's own.
    var folder: String?
}

/// What a set of programs took, every descendant counted.
struct Measurement: Codable, Sendable {
    /// Seconds from the first start to the last end.
    var wall: Double
    /// User and system seconds.
    var cpu: Double
    /// User and system seconds of the started programs themselves, without their children; to about 10 ms.
    var cpuWithoutChildren: Double
    /// Highest sum of the proportional set sizes seen, bytes; nil when not sampled.
    var peakBytes: Int?
    /// Exit statuses other than 0, signals as 128 + number.
    var failures: [Int32]
}

struct ProcessError: Error, CustomStringConvertible {
    let description: String
}

/// Starts programs and accounts for the whole tree below them.
///
/// Owns every child of this process while it runs: nothing else may start children meanwhile.
struct ProcessTree {
    /// Programs whose standard output and error go to this file.
    let log: String

    init(log: String) throws(ProcessError) {
        self.log = log
        let status = bench_adopt_orphans()
        guard status == 0 else {
            throw ProcessError(description: "cannot adopt orphaned processes: error \(status)")
        }
    }

    /// Runs lanes side by side, the programs of one lane after each other.
    func run(_ lanes: [[Invocation]], samplingMemory: Bool = false) throws(ProcessError) -> Measurement {
        let sampler = samplingMemory ? MemorySampler(root: getpid()) : nil
        var waiting = lanes.map { Array($0.reversed()) }
        var laneOfProcess: [pid_t: Int] = [:]
        var measurement = Measurement(wall: 0, cpu: 0, cpuWithoutChildren: 0, failures: [])
        let start = ContinuousClock.now
        for lane in waiting.indices {
            if let next = waiting[lane].popLast() { laneOfProcess[try spawn(next)] = lane }
        }
        while true {
            var info = siginfo_t()
            // Looking without reaping keeps /proc/PID/stat of the ended process readable.
            guard waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0 else {
                if errno == EINTR { continue }
                break
            }
            var usage = rusage()
            var status: Int32 = 0
            let ownTicks = Self.ownTicks(of: info._sifields._sigchld.si_pid)
            let process = wait4(info._sifields._sigchld.si_pid, &status, 0, &usage)
            guard process > 0 else { continue }
            measurement.cpu += seconds(usage.ru_utime) + seconds(usage.ru_stime)
            guard let lane = laneOfProcess.removeValue(forKey: process) else { continue }
            measurement.cpuWithoutChildren += Double(ownTicks) / Double(sysconf(Int32(_SC_CLK_TCK)))
            if status != 0 { measurement.failures.append(SessionProgram.exitStatus(status)) }
            if let next = waiting[lane].popLast() { laneOfProcess[try spawn(next)] = lane }
        }
        measurement.wall = (ContinuousClock.now - start) / .seconds(1)
        measurement.peakBytes = sampler?.stop()
        return measurement
    }

    private func spawn(_ invocation: Invocation) throws(ProcessError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        if let folder = invocation.folder { _ = bench_start_in(&actions, folder) }
        let variables = ProcessInfo.processInfo.environment
            .merging(invocation.environment) { _, added in added }
            .map { "\($0.key)=\($0.value)" }
        var process: pid_t = 0
        let status = withCStrings([invocation.program] + invocation.arguments) { arguments in
            withCStrings(variables) { environment in
                posix_spawn(&process, invocation.program, &actions, nil, arguments, environment)
            }
        }
        guard status == 0 else {
            throw ProcessError(description: "cannot start \(invocation.program): \(String(cString: strerror(status)))")
        }
        return process
    }

    /// Clock ticks a process used itself (fields 14 and 15 of proc(5) stat), 0 when it cannot be read.
    private static func ownTicks(of process: pid_t) -> Int {
        guard let stat = readSmallFile("/proc/\(process)/stat"), let nameEnd = stat.lastIndex(of: ")") else { return 0 }
        let fields = stat[stat.index(after: nameEnd)...].split(separator: " ")
        guard fields.count > 12 else { return 0 }
        return (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
    }
}

private func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

/// Lends `strings` as a null-terminated array of C strings.
private func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let copies = strings.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies + [nil])
}

/// The text of a file in /proc; nil when it is gone.
func readSmallFile(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
}
