import CProcess
import Confinement
import Foundation
import Glibc
import TemporaryFolders
import Testing

/// What the kernel's own calls do, each tried in a thread that ends with its rights.
@Suite struct LandlockTests {
    static let version = bg_landlock_version()
    static let skipped: Comment = "SKIPPED: this kernel has no Landlock, so that nothing can be confined"

    @Test func theStatusIsOneSentenceEitherWay() {
        let status = Confinement.status
        #expect(status.sentence.hasPrefix("Workers are") && status.sentence.hasSuffix("."))
        #expect(status.landlockVersion.map { Int32($0) == Self.version } ?? (Self.version < 1))
    }

    @Test func laterVersionsOfLandlockKnowMoreRights() {
        let rights = (0...7).map { bg_landlock_file_rights($0) }
        #expect(rights[0] == 0 && rights[1] == (1 << 13) - 1)
        #expect(rights[2] == rights[1] | UInt64(BG_LANDLOCK_REFER))
        #expect(rights[3] == rights[2] | UInt64(BG_LANDLOCK_TRUNCATE) && rights[4] == rights[3])
        #expect(rights[5] == rights[4] | UInt64(BG_LANDLOCK_IOCTL_DEV) && rights[7] == rights[5])
    }

    @Test(.enabled(if: version >= 1, skipped))
    func aThreadKeepsTheRightsItWasGivenAndNoOthers() throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        try folder.write("inside", to: "open/file")
        try folder.write("outside", to: "closed/file")
        let outcomes = onThread { () -> [Int32] in
            let target = open(path + "/open", bg_o_path | O_CLOEXEC)
            let rules = bg_landlock_create(Self.version)
            defer {
                close(target)
                close(rules)
            }
            let rights = UInt64(BG_LANDLOCK_READ_FILE | BG_LANDLOCK_READ_DIR)
            guard bg_landlock_allow(rules, target, rights) == 0, bg_no_new_privileges() == 0,
                bg_landlock_enforce(rules) == 0
            else { return [] }
            return [
                reason(path + "/open/file", O_RDONLY), reason(path + "/open/file", O_WRONLY),
                reason(path + "/closed/file", O_RDONLY), reason(path + "/open/../closed/file", O_RDONLY),
            ]
        }
        #expect(outcomes == [0, EACCES, EACCES, EACCES])
        #expect(reason(path + "/closed/file", O_RDONLY) == 0, "the other threads are as before")
    }

    @Test func refusedSocketsStayRefusedAndOpenOnesStayUsable() {
        let outcomes = onThread { () -> [Int32] in
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends) == 0, bg_no_new_privileges() == 0,
                bg_refuse_sockets(true) == 0
            else { return [errno] }
            defer { for end in ends { close(end) } }
            var outcomes: [Int32] = []
            for (family, kind) in [(AF_UNIX, SOCK_STREAM), (AF_INET, SOCK_DGRAM), (AF_INET6, SOCK_STREAM)] {
                outcomes.append(socket(family, Int32(kind.rawValue), 0) < 0 ? errno : 0)
            }
            var more: [Int32] = [-1, -1]
            outcomes.append(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &more) < 0 ? errno : 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let connected = withUnsafeBytes(of: &address) { bytes in
                bytes.assumingMemoryBound(to: sockaddr.self).baseAddress.map {
                    connect(ends[0], $0, socklen_t(bytes.count))
                } ?? 0
            }
            outcomes.append(connected < 0 ? errno : 0)
            outcomes.append(send(ends[0], "x", 1, 0) == 1 ? 0 : errno)
            return outcomes
        }
        #expect(outcomes == [EACCES, EACCES, EACCES, EACCES, EACCES, 0])
    }
}

private func reason(_ path: String, _ flags: Int32) -> Int32 {
    let fd = open(path, flags | O_CLOEXEC)
    guard fd >= 0 else { return errno }
    close(fd)
    return 0
}

/// Runs on a thread of its own, which ends then.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
    let box = Box<Value>()
    let thread = Thread {
        box.value = body()
        box.done.signal()
    }
    thread.start()
    box.done.wait()
    return box.value
}

/// Written before the semaphore is signalled, read after it was waited for.
private final class Box<Value: Sendable>: @unchecked Sendable {
    var value: Value?
    let done = DispatchSemaphore(value: 0)
}
