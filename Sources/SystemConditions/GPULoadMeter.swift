import Glibc

/// GPU time that other programs take (rule 40): a card's own figure less our part of it, or the sum of the other
/// processes' parts where the driver counts them.
///
/// Drivers count time, so a share takes two readings; the meter keeps the one before.
package struct GPULoadMeter: Sendable {
    private struct Client: Hashable {
        /// PCI address, as the driver prints it.
        var device: String
        var number: String
    }

    private struct Usage {
        var isOwn: Bool
        /// Nanoseconds by engine.
        var engines: [String: Int] = [:]
        /// How many engines share a name.
        var capacity: [String: Int] = [:]
    }

    private var last: (time: Duration, clients: [Client: Usage])?

    package init() {}

    /// Takes a reading; `own` are processes whose load is not foreign, like that of all they started, `time` is of a clock that does not jump.
    package mutating func read(_ root: SystemRoot, own: Set<Int>, at time: Duration) -> Reading<Double> {
        let folder = "/sys/class/drm"
        let cards = ((try? root.names(in: folder)) ?? []).filter { $0.hasPrefix("card") && Int($0.dropFirst(4)) != nil }
        guard !cards.isEmpty else { return .unknown("no graphics card below \(folder)") }
        let busy = cards.compactMap { card -> (path: String, device: String, percent: Double)? in
            let path = "\(folder)/\(card)/device/gpu_busy_percent"
            guard let percent = (try? root.line(path)).flatMap({ Numeral.percent($0) }) else { return nil }
            return (path, Self.address(of: "\(folder)/\(card)/device", root), percent)
        }
        let all = Self.processes(root)
        let own = Self.family(of: own, among: all, root)
        let processes = busy.isEmpty ? all : own.sorted()
        let clients = Self.clients(of: processes, own: own, root)
        let before = last
        last = (time, clients)
        var span: Int?
        if let before, time - before.time >= .milliseconds(10), time - before.time < .seconds(86400) {
            span = Int((time - before.time) / .nanoseconds(1))
        }
        if busy.isEmpty {
            guard !clients.isEmpty else { return .unknown("the driver tells neither its load nor its clients'") }
            guard let before, let span else { return .unknown("a share of time takes a second reading") }
            let load = Self.load(of: clients, since: before.clients, span: span) { !$1.isOwn }
            return .known(load, source: "/proc/*/fdinfo", note: "sum of other processes")
        }
        let foreign = busy.compactMap { card -> (path: String, percent: Double)? in
            let isOurs = { (client: Client, usage: Usage) in usage.isOwn && client.device == card.device }
            guard clients.contains(where: isOurs) else { return (card.path, card.percent) }
            guard let before, let span else { return nil }
            let ours = Self.load(of: clients, since: before.clients, span: span, isOurs)
            return (card.path, max(0, card.percent - ours))
        }
        guard let worst = foreign.max(by: { $0.percent < $1.percent }) else {
            return .unknown("telling our own load apart takes a second reading")
        }
        return .known(worst.percent, source: worst.path)
    }

    /// Share of the busiest engine, 0 ... 100.
    private static func load(
        of clients: [Client: Usage], since before: [Client: Usage], span: Int,
        _ counts: (Client, Usage) -> Bool
    ) -> Double {
        var engines: [String: Double] = [:]
        for (client, usage) in clients where counts(client, usage) {
            guard let earlier = before[client] else { continue }
            for (engine, nanoseconds) in usage.engines {
                guard let start = earlier.engines[engine], nanoseconds >= start else { continue }
                let share = Double(nanoseconds - start) / Double(span) / Double(usage.capacity[engine] ?? 1)
                engines["\(client.device) \(engine)", default: 0] += share * 100
            }
        }
        return min(100, engines.values.max() ?? 0)
    }

    private static func address(of device: String, _ root: SystemRoot) -> String {
        let text = (try? root.text("\(device)/uevent")) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("PCI_SLOT_NAME=") }
        return line.map { String($0.dropFirst(14)) } ?? ""
    }

    private static func processes(_ root: SystemRoot) -> [Int] {
        ((try? root.names(in: "/proc")) ?? []).compactMap { Int($0) }
    }

    /// Those processes and their children, and theirs.
    private static func family(of own: Set<Int>, among processes: [Int], _ root: SystemRoot) -> Set<Int> {
        var children: [Int: [Int]] = [:]
        for process in processes {
            // Its name comes before in parentheses, and may have any character.
            guard let text = try? root.text("/proc/\(process)/stat"), let name = text.lastIndex(of: ")"),
                let parent = text[name...].split(separator: " ").dropFirst(2).first.flatMap({ Int($0) })
            else { continue }
            children[parent, default: []].append(process)
        }
        var family = own
        var new = Array(own)
        while let parent = new.popLast() {
            for child in children[parent] ?? [] where family.insert(child).inserted { new.append(child) }
        }
        return family
    }

    private static func clients(of processes: [Int], own: Set<Int>, _ root: SystemRoot) -> [Client: Usage] {
        var clients: [Client: Usage] = [:]
        for process in processes {
            for descriptor in (try? root.names(in: "/proc/\(process)/fd")) ?? [] {
                guard root.link("/proc/\(process)/fd/\(descriptor)")?.hasPrefix("/dev/dri/") == true,
                    let text = try? root.text("/proc/\(process)/fdinfo/\(descriptor)"),
                    let (client, engines) = parse(text, isOwn: own.contains(process))
                else { continue }
                // A client that several processes have open is counted once, as ours if it is one of ours.
                let isOwn = engines.isOwn || clients[client]?.isOwn == true
                clients[client] = engines
                clients[client]?.isOwn = isOwn
            }
        }
        return clients
    }

    /// The kernel's `drm-usage-stats` format; nil where no engine is counted.
    private static func parse(_ text: String, isOwn: Bool) -> (Client, Usage)? {
        var client = Client(device: "", number: "")
        var usage = Usage(isOwn: isOwn)
        for line in text.split(separator: "\n") where line.hasPrefix("drm-") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let words = parts[1].split(whereSeparator: \.isWhitespace)
            guard let first = words.first else { continue }
            let key = parts[0]
            if key == "drm-pdev" {
                client.device = String(parts[1].drop(while: \.isWhitespace))
            } else if key == "drm-client-id" {
                client.number = String(first)
            } else if key.hasPrefix("drm-engine-capacity-") {
                if let count = Int(first), (1...1024).contains(count) {
                    usage.capacity[String(key.dropFirst(20))] = count
                }
            } else if key.hasPrefix("drm-engine-"), let time = Int(first), time >= 0, words.last == "ns" {
                usage.engines[String(key.dropFirst(11))] = time
            }
        }
        return usage.engines.isEmpty || client.number.isEmpty ? nil : (client, usage)
    }
}

extension SystemRoot {
    /// What a symbolic link says, unresolved.
    func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = buffer.withUnsafeMutableBytes { bytes -> Int in
            guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return -1 }
            return readlink(self.path(path), start, bytes.count)
        }
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
}
