import CSystemConditions

extension SystemRoot {
    /// Seconds since 1970 at which a file was last read from; for terminals, when something was last typed.
    func lastAccess(_ path: String) -> Duration? {
        let seconds = bg_last_access(self.path(path))
        return seconds < 0 ? nil : .seconds(seconds)
    }
}
