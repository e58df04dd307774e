/// Pressure stall information of the kernel: the share of the last ten seconds in which some task waited (rule 46).
struct PressureReader {
    enum Resource: String, CaseIterable { case cpu, io, memory }

    let root: SystemRoot

    static func path(_ resource: Resource) -> String { "/proc/pressure/\(resource.rawValue)" }

    func read(_ resource: Resource) -> Reading<Double> {
        let path = Self.path(resource)
        do {
            let text = try root.text(path)
            if let value = Self.someAverage(text) { return .known(value, source: path) }
            return fallback(resource, .unknown("\(path) holds no pressure"))
        } catch {
            return fallback(resource, .unknown(error.words))
        }
    }

    /// `some avg10=2.66 avg60=...`: 2.66.
    static func someAverage(_ text: String) -> Double? {
        for line in text.split(separator: "\n") where line.hasPrefix("some ") {
            for word in line.split(separator: " ") where word.hasPrefix("avg10=") {
                return Numeral.percent(word.dropFirst(6))
            }
        }
        return nil
    }

    /// For the processor, the load average tells how many tasks wait beside those that run.
    private func fallback(_ resource: Resource, _ reading: Reading<Double>) -> Reading<Double> {
        guard resource == .cpu, let text = try? root.line("/proc/loadavg"),
            let load = text.split(separator: " ").first.flatMap({ Double(String($0)) }), load.isFinite,
            (0...1e6).contains(load), let processors = processors()
        else { return reading }
        let waiting = max(0, load - Double(processors))
        return .known(waiting == 0 ? 0 : waiting / load * 100, source: "/proc/loadavg", note: "no pressure information")
    }

    /// Processors that are online, from a list such as `0-3,6`.
    private func processors() -> Int? {
        guard let list = try? root.line("/sys/devices/system/cpu/online") else { return nil }
        var count = 0
        for range in list.split(separator: ",") {
            let ends = range.split(separator: "-", maxSplits: 1).map { Int($0) }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, 0 <= first, first <= last, last < 1 << 20
            else { return nil }
            count += last - first + 1
            guard count <= 1 << 20 else { return nil }
        }
        return count > 0 ? count : nil
    }
}
