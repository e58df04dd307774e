import CProcess
import Foundation
import Glibc
import JobLink
import Testing

@Suite struct ProcessCallTests {
    @Test func theOtherEndOfASocketIsKnown() throws {
        let (one, other) = try #require(PacketChannel.pair())
        defer {
            one.closeDescriptor()
            other.closeDescriptor()
        }
        var peer = bg_peer()
        #expect(bg_peer_of(one.descriptor, &peer) == 0)
        #expect(peer.process == getpid() && peer.user == geteuid() && peer.group == getegid())
    }

    @Test func aProcessIsSignalledByItsDescriptor() throws {
        let process = try Process.run(URL(fileURLWithPath: "/bin/sleep"), arguments: ["600"])
        let descriptor = bg_pidfd_open(process.processIdentifier)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
        #expect(bg_pidfd_signal(descriptor, SIGKILL) == 0)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        #expect(bg_pidfd_signal(descriptor, 0) == -1 && errno == ESRCH)
    }

    @Test func bytesOfAFileAreAtHandOnceTheyWereRead() throws {
        let path = FileManager.default.temporaryDirectory.path + "/bgrun-at-hand-\(UUID().uuidString)"
        defer { unlink(path) }
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0 && pwrite(file, "four", 4, 0) == 4)
        #expect(bg_is_at_hand(file, 0) && bg_is_at_hand(file, 3))
        #expect(!bg_is_at_hand(file, off_t(sysconf(Int32(_SC_PAGESIZE)))))
        close(file)
        // Another test may have that number by now.
        #expect(!bg_is_at_hand(-1, 0))
    }

    private static let tellsWithoutReading = ProcessInfo.processInfo.isOperatingSystemAtLeast(
        .init(majorVersion: 6, minorVersion: 5, patchVersion: 0))

    @Test(.enabled(if: tellsWithoutReading, "before Linux 6.5, asking has the kernel read the page"))
    func askingWhatIsAtHandReadsNothing() throws {
        let path = FileManager.default.temporaryDirectory.path + "/bgrun-let-go-\(UUID().uuidString)"
        defer { unlink(path) }
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        try #require(file >= 0 && pwrite(file, "four", 4, 0) == 4 && fsync(file) == 0)
        // A file system that lives in memory keeps it.
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
        let memory = try #require(mmap(nil, 4, PROT_READ, MAP_SHARED, file, 0))
        try #require(memory != MAP_FAILED)
        defer { munmap(memory, 4) }
        func isInMemory() -> Bool {
            var page: UInt8 = 0
            return mincore(memory, 4, &page) == 0 && page & 1 != 0
        }
        let wasInMemory = isInMemory()
        for _ in 0..<100 { #expect(bg_is_at_hand(file, 0) == wasInMemory) }
        #expect(isInMemory() == wasInMemory)
        var byte: UInt8 = 0
        #expect(pread(file, &byte, 1, 0) == 1 && bg_is_at_hand(file, 0))
    }

    @Test func descriptorsComeWithTheirMessageAndOnlyToThoseWhoTakeThem() throws {
        let (one, other) = try #require(PacketChannel.pair())
        defer {
            one.closeDescriptor()
            other.closeDescriptor()
        }
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        for message in ["taken", "passed over", "bare"] {
            guard case .done = one.send(message, descriptors: message == "bare" ? [] : [file, file]) else {
                Issue.record("\(message) was not sent")
                return
            }
        }
        var descriptors: [Int32] = []
        guard case .message("taken") = other.receive(String.self, waiting: true, descriptors: &descriptors) else {
            Issue.record("the first message did not come")
            return
        }
        #expect(descriptors.count == 2 && descriptors.allSatisfy { $0 != file && isSame($0, file) })
        #expect(descriptors.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
        for descriptor in descriptors { close(descriptor) }
        guard case .message("passed over") = other.receive(String.self, waiting: true) else {
            Issue.record("the second message did not come")
            return
        }
        guard case .message("bare") = other.receive(String.self, waiting: true, descriptors: &descriptors) else {
            Issue.record("the third message did not come")
            return
        }
        #expect(descriptors.isEmpty)
    }

    private func isSame(_ one: Int32, _ other: Int32) -> Bool {
        var first = stat()
        var second = stat()
        return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_rdev == second.st_rdev
            && first.st_ino == second.st_ino
    }
}
