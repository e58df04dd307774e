import Foundation
import Glibc

/// A small file system in memory, unmounted with its owner.
final class FullVolume {
    static let isPossible: Bool = {
        guard geteuid() == 0, let place = try? TestPlace() else { return false }
        return (try? FullVolume(in: place, size: "64k")) != nil
    }()

    private static let remount: UInt = 32
    private static let readOnly: UInt = 1
    /// MNT_DETACH
    private static let detach: Int32 = 2

    /// Stays until the volume is gone: a folder in which one is mounted cannot be removed.
    private let place: TestPlace
    private var path: String { place.path + "/volume" }

    struct Refused: Error {}

    /// Mounts one as `volume` in a place.
    init(in place: TestPlace, size: String) throws {
        self.place = place
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(size)") == 0 else { throw Refused() }
    }

    func resize(_ size: String) throws {
        guard mount("tmpfs", path, "tmpfs", Self.remount, "size=\(size)") == 0 else { throw Refused() }
    }

    /// - Returns: Whether it could be changed: not to read-only while a file is open for writing.
    func setReadOnly(_ isReadOnly: Bool) -> Bool {
        mount("tmpfs", path, "tmpfs", Self.remount | (isReadOnly ? Self.readOnly : 0), nil) == 0
    }

    func unmount() { umount2(path, Self.detach) }

    deinit {
        unmount()
    }
}
