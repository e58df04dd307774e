import Glibc

/// Processor time of the processes of a session, with that of their children that have ended (proc(5)).
enum SessionProcessorTime {
    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    /// - Parameter sessions: Their numbers, which are those of their first processes.
    /// - Returns: Seconds for each that has a process.
    static func seconds(of sessions: Set<Int32>) -> [Int32: Double] {
        guard !sessions.isEmpty, let folder = opendir("/proc") else { return [:] }
        defer { closedir(folder) }
        var found: [Int32: Double] = [:]
        while let entry = readdir(folder) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(UInt8(bitPattern: entry.pointee.d_name.0)) else {
                continue
            }
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            // The session is the fourth, the times are the 12th to 15th.
            guard let fields = ProcessStatus.fields(of: name), fields.count > 14, let session = Int32(fields[3]),
                sessions.contains(session)
            else { continue }
            let ticks = fields[11...14].reduce(0) { $0 + (Double($1) ?? 0) }
            found[session, default: 0] += ticks / ticksPerSecond
        }
        return found
    }
}
