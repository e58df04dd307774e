/// The file with `on` or `off` by which a person decides for all of their programs.
package enum LowPowerSwitch {
    /// - Parameter environment: Of the process.
    /// - Returns: Its path, whether it is there or not; nil where there is no home.
    package static func path(environment: [String: String]) -> String? {
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            return "\(folder)/bgrun/low-power-mode"
        }
        return environment["HOME"].map { "\($0)/.config/bgrun/low-power-mode" }
    }
}
