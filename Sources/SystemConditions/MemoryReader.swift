/// Memory that can be given out: the machine's, or less where a control group is tighter (rule 47).
struct MemoryReader {
    let root: SystemRoot

    func read() -> Reading<Int> {
        let machine: Int
        do {
            let text = try root.text("/proc/meminfo")
            guard let kilobytes = Self.field("MemAvailable:", in: text), kilobytes >= 0,
                let bytes = Numeral.product(kilobytes, 1024)
            else { return .unknown("/proc/meminfo tells no MemAvailable") }
            machine = bytes
        } catch {
            return .unknown(error.words)
        }
        let tightest = ControlGroups(root: root).memory().min { $0.available < $1.available }
        if let tightest, tightest.available < machine {
            return .known(tightest.available, source: tightest.path, note: "left in this control group")
        }
        return .known(machine, source: "/proc/meminfo")
    }

    /// All memory of the machine, or the limit of a tighter control group; nil where it cannot be read.
    func total() -> Int? {
        guard let text = try? root.text("/proc/meminfo"), let kilobytes = Self.field("MemTotal:", in: text),
            kilobytes > 0, let machine = Numeral.product(kilobytes, 1024)
        else { return nil }
        return ControlGroups(root: root).memory().map(\.limit).reduce(machine, min)
    }

    /// The first number after a name at the start of a line.
    static func field(_ name: String, in text: String) -> Int? {
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            return line.dropFirst(name.count).split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
        }
        return nil
    }
}
