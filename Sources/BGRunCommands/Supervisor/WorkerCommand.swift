import ArgumentParser
import Confinement
import Foundation
import Glibc
import ImageExport
import JobLink
import Synchronization

/// The hidden command that a supervisor starts: takes items from its socket one by one and exports them.
struct WorkerCommand: ParsableCommand {
    static let name = "worker"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    func run() throws {
        let channel = PacketChannel(descriptor: PacketChannel.childDescriptor)
        Confinement.closeInherited(from: channel.descriptor + 1)
        volunteerForOutOfMemory()
        // Its files stay open when no more can be opened.
        let times = ProcessorTimes()
        // Before there is another thread: that one would keep its rights.
        guard let outputs = try WorkerConfinement.begin(channel) else { return }
        leaveWithSupervisor()
        let lanes = Lanes()
        let exporter = ImageExporter(lanes: lanes)
        let faults = WorkerFaults(ProcessInfo.processInfo.environment)
        let conduct = ItemConduct(channel, times: times)
        while !conduct.isOver {
            if let (item, environment, input) = conduct.nextItem() {
                defer { for descriptor in input { close(descriptor) } }
                for (name, value) in environment { setenv(name, value, 1) }
                faults.strike(item.input)
                if let escape = WorkerEscapes.result(of: item.input, ProcessInfo.processInfo.environment) {
                    conduct.itemEnded()
                    guard case .done = channel.send(WorkerMessage.result(escape)) else { return }
                    continue
                }
                let result = exporter.export(item, input: input.first, into: outputs) { progress in
                    conduct.mayGoOn(progress)
                }
                conduct.itemEnded()
                if result.failure?.code == "device" { lanes.forget(item.lane) }
                guard case .done = channel.send(WorkerMessage.result(result)) else { return }
            }
            if conduct.leavesDevice { lanes.forgetDevices() }
        }
        // The supervisor said so; it does not wait.
        hasLeft.store(true, ordering: .releasing)
        lanes.storePrograms()
    }

    /// When memory runs out, the kernel should end a worker, whose item can be done again, and no other process.
    private func volunteerForOutOfMemory() {
        let fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
        guard fd >= 0 else { return }
        _ = write(fd, "500", 3)
        close(fd)
    }

    /// Ends this process as soon as its supervisor is gone, even within an item: a worker that outlived it would write
    /// outputs beside those of the next run.
    private func leaveWithSupervisor() {
        let thread = Thread {
            var ends = pollfd(fd: PacketChannel.childDescriptor, events: 0, revents: 0)
            while poll(&ends, 1, -1) < 0 && errno == EINTR {}
            if !hasLeft.load(ordering: .acquiring) { _exit(0) }
        }
        thread.stackSize = 64 << 10
        thread.start()
    }
}

/// The supervisor has no more items, so its end does not matter any more.
private let hasLeft = Atomic<Bool>(false)

/// Test hooks: misbehave on inputs whose path contains a text given in the environment.
struct WorkerFaults {
    private let crash: String?
    private let hang: String?
    private let die: String?

    init(_ environment: [String: String]) {
        crash = environment["BGRUN_TEST_CRASH_ON"]
        hang = environment["BGRUN_TEST_HANG_ON"]
        die = environment["BGRUN_TEST_KILL_ON"]
    }

    func strike(_ input: String) {
        if let crash, input.contains(crash) {
            signal(SIGSEGV, SIG_DFL)
            raise(SIGSEGV)
        }
        if let die, input.contains(die) { raise(SIGKILL) }
        if let hang, input.contains(hang) {
            while true { pause() }
        }
    }
}
