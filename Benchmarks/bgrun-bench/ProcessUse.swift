import Foundation
import Glibc

/// What processes and the machine have used of the processors so far.
enum ProcessUse {
    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    /// A process and all below it, those included that were waited for, in seconds; 0 when it is gone.
    static func seconds(below root: pid_t) -> Double {
        tree(root).reduce(0) { sum, process in
            guard let stat = readSmallFile("/proc/\(process)/stat"), let name = stat.lastIndex(of: ")") else {
                return sum
            }
            // Fields 14 to 17 of proc(5) stat: user and system time, its own and that of ended children.
            let fields = stat[stat.index(after: name)...].split(separator: " ")
            guard fields.count > 14 else { return sum }
            return sum + fields[11...14].reduce(0) { $0 + (Double($1) ?? 0) } / ticksPerSecond
        }
    }

    /// Time on the processor of every thread that lives of a process and of all below it, in nanoseconds: finer than
    /// ``seconds(below:)``, but what has ended is missing.
    static func nanoseconds(of processes: [pid_t]) -> Double {
        processes.reduce(0) { sum, process in
            threads(of: process).reduce(sum) { sum, thread in
                let text = readSmallFile("/proc/\(process)/task/\(thread)/schedstat") ?? ""
                return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0)
            }
        }
    }

    /// User and system time of all children that have ended, and of theirs.
    static var endedChildrenSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6 }
    }

    static func threads(of process: pid_t) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return names.compactMap { pid_t($0) }
    }

    /// A process and all below it.
    static func tree(_ root: pid_t) -> [pid_t] { children(of: root).reduce([root]) { $0 + tree($1) } }

    static func children(of process: pid_t) -> [pid_t] {
        threads(of: process).flatMap { thread in
            let list = readSmallFile("/proc/\(process)/task/\(thread)/children") ?? ""
            return list.split(separator: " ").compactMap { pid_t($0) }
        }
    }

    /// Seconds in which processors had nothing to do, of all processors together.
    static func idleSeconds() -> Double { machineSeconds(3, 4) }

    /// Seconds in which processors worked for programs and the kernel, of all processors together; what a hypervisor
    /// gave to others is not among them.
    static func busySeconds() -> Double { machineSeconds(0, 1, 2, 5, 6) }

    /// The sum of some fields of the first line of proc(5) stat.
    private static func machineSeconds(_ fields: Int...) -> Double {
        let line = readSmallFile("/proc/stat")?.split(separator: "\n").first?.split(separator: " ").dropFirst() ?? []
        let values = line.map { Double($0) ?? 0 }
        return fields.reduce(0) { $0 + ($1 < values.count ? values[$1] : 0) } / ticksPerSecond
    }

    /// Of the last minute.
    static var loadAverage: Double {
        readSmallFile("/proc/loadavg")?.split(separator: " ").first.flatMap { Double($0) } ?? .nan
    }
}
