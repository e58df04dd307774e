import Glibc

/// Where the kernel tells the weight of a job's processes: the file of its unit, or that of its session.
struct WeightFile {
    private let path: String
    /// How it ends once the job is raised.
    private let raised: String

    init(of process: pid_t) {
        let group = readSmallFile("/proc/\(process)/cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::") }
        let unit = "/sys/fs/cgroup" + (group?.dropFirst(3) ?? "") + "/cpu.idle"
        let isUnit = access(unit, R_OK) == 0
        path = isUnit ? unit : "/proc/\(process)/autogroup"
        raised = isUnit ? "0\n" : " nice 0\n"
    }

    var isRaised: Bool { readSmallFile(path)?.hasSuffix(raised) == true }
}
