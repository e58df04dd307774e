/// Whether the machine is to save power (rule 44): the person's switch, else the platform's profile, else the profile
/// service.
struct LowPowerReader {
    static let platformProfile = "/sys/firmware/acpi/platform_profile"

    let root: SystemRoot
    /// The active profile on the bus.
    let profile: Reading<String>

    func read(setting: Bool?, switchFile: String?) -> Reading<Bool> {
        if let setting { return .known(setting, source: "setting") }
        if let switchFile, let value = Self.switchValue(switchFile) { return .known(value, source: switchFile) }
        let platform = try? root.line(Self.platformProfile)
        switch platform {
        case "low-power": return .known(true, source: Self.platformProfile, note: "low-power")
        case "quiet":
            // The most saving profile of machines that have no other.
            let choices = (try? root.line("\(Self.platformProfile)_choices")) ?? ""
            let isLowest = !choices.split(separator: " ").contains("low-power")
            return .known(isLowest, source: Self.platformProfile, note: "quiet")
        case .some(let name)
        where ["balanced", "balanced-performance", "performance", "max-power", "cool"].contains(name):
            return .known(false, source: Self.platformProfile, note: name)
        default: break
        }
        switch profile {
        case .known(let name, let source, _): return .known(name == "power-saver", source: source, note: name)
        case .unknown(let reason): return .unknown("no platform profile; \(reason)")
        }
    }

    /// `on` or `off`; nil for anything else. It lies in a folder of the person's, not below the system's root.
    static func switchValue(_ path: String) -> Bool? {
        switch try? SystemRoot().line(path) {
        case "on": true
        case "off": false
        default: nil
        }
    }
}
