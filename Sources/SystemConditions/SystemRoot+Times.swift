// Foundation beside it would hide where the fields of `timespec` come from.
import Glibc

extension SystemRoot {
    /// Seconds since 1970 at which a file was last read from; for terminals, when something was last typed.
    func lastAccess(_ path: String) -> Duration? {
        var status = stat()
        guard stat(self.path(path), &status) == 0 else { return nil }
        return .seconds(status.st_atim.tv_sec)
    }
}
