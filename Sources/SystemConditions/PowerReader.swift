import TaskModel

/// Power source and battery level from the kernel's power supplies (rules 42 and 43).
struct PowerReader {
    static let folder = "/sys/class/power_supply"

    let root: SystemRoot

    private struct Supply {
        enum Kind { case line, battery, ups, unreadable }

        var name: String
        var kind: Kind
        /// nil when it cannot be read.
        var isOnline: Bool?
        var status = ""
        var percent: Double?
        /// µWh or µAh at full charge.
        var capacity: Int?
    }

    func read() -> (power: Reading<Conditions.PowerSource>, percent: Reading<Double>) {
        let names: [String]
        do {
            names = try root.names(in: Self.folder)
        } catch {
            // A kernel without this class has no battery; a system without /sys/class tells nothing.
            guard error.isMissing, root.exists("/sys/class") else {
                return (.unknown(error.words), .unknown(error.words))
            }
            names = []
        }
        let supplies = names.compactMap(supply)
        return (power(supplies), percent(supplies))
    }

    /// nil for the battery of a mouse and the like, and for an empty slot.
    private func supply(_ name: String) -> Supply? {
        let folder = "\(Self.folder)/\(name)"
        if (try? root.line("\(folder)/scope")) == "Device" { return nil }
        guard let type = try? root.line("\(folder)/type") else { return Supply(name: name, kind: .unreadable) }
        switch type {
        case "Battery", "UPS":
            if root.integer("\(folder)/present") == 0 { return nil }
            var supply = Supply(name: name, kind: type == "UPS" ? .ups : .battery)
            supply.status = (try? root.line("\(folder)/status")) ?? ""
            let full = positive("\(folder)/energy_full") ?? positive("\(folder)/charge_full")
            supply.capacity = full
            supply.percent = (try? root.line("\(folder)/capacity")).flatMap { Numeral.percent($0) }
            if supply.percent == nil, let full,
                let now = root.integer("\(folder)/energy_now") ?? root.integer("\(folder)/charge_now"),
                (0...full).contains(now)
            {
                supply.percent = Double(now) / Double(full) * 100
            }
            return supply
        case _ where type == "Mains" || type == "Wireless" || type.hasPrefix("USB"):
            // 2 is a supply whose voltage can be set.
            let online = root.integer("\(folder)/online").flatMap { (0...2).contains($0) ? $0 > 0 : nil }
            return Supply(name: name, kind: .line, isOnline: online)
        default:
            return nil
        }
    }

    private func positive(_ path: String) -> Int? {
        root.integer(path).flatMap { $0 > 0 ? $0 : nil }
    }

    private func power(_ supplies: [Supply]) -> Reading<Conditions.PowerSource> {
        func path(_ supply: Supply) -> String { "\(Self.folder)/\(supply.name)" }

        let lines = supplies.filter { $0.kind == .line }
        if let online = lines.first(where: { $0.isOnline == true }) {
            return .known(.external, source: path(online))
        }
        // Behind a UPS the machine is on battery only while that one discharges.
        let batteries = supplies.filter {
            $0.kind == .battery || $0.kind == .ups && $0.status == "Discharging"
        }
        if let draining = batteries.first(where: { $0.status == "Discharging" }) {
            return .known(.battery, source: path(draining), note: "discharging")
        }
        if let unreadable = supplies.first(where: { $0.kind == .unreadable }) {
            return .unknown("\(path(unreadable))/type cannot be read")
        }
        guard let battery = batteries.first else {
            return .known(.external, source: Self.folder, note: "no battery")
        }
        if let charging = batteries.first(where: { $0.status == "Charging" }) {
            return .known(.external, source: path(charging), note: "charging")
        }
        if let unreadable = lines.first(where: { $0.isOnline == nil }) {
            return .unknown("\(path(unreadable))/online cannot be read")
        }
        if lines.isEmpty {
            // No supply says anything, so the battery has to: one that is full and not draining is fed.
            guard battery.status == "Full" || battery.status == "Not charging" else {
                return .unknown("no supply tells, and \(path(battery)) says \"\(battery.status.prefix(20))\"")
            }
            return .known(.external, source: path(battery), note: battery.status.lowercased())
        }
        return .known(.battery, source: path(battery), note: "no supply is online")
    }

    /// The charge of all system batteries together.
    private func percent(_ supplies: [Supply]) -> Reading<Double> {
        let batteries = supplies.filter { $0.kind == .battery || $0.kind == .ups }
        guard let first = batteries.first else { return .unknown("there is no battery") }
        let readable = batteries.filter { $0.percent != nil }
        guard !readable.isEmpty else { return .unknown("\(Self.folder)/\(first.name)/capacity holds no percentage") }
        // A large battery counts for more than a small one, where the sizes of all are known.
        let sizes = readable.compactMap { $0.capacity.map(Double.init) }
        let weights = sizes.count == readable.count ? sizes : readable.map { _ in 1 }
        let sum = zip(readable, weights).reduce(0) { $0 + ($1.0.percent ?? 0) * $1.1 }
        let percent = min(100, max(0, sum / weights.reduce(0, +)))
        return .known(percent, source: readable.map { "\(Self.folder)/\($0.name)" }.joined(separator: ", "))
    }
}
