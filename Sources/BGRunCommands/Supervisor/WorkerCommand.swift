import ArgumentParser
import ChunkedCompute
import Confinement
import Foundation
import Glibc
import ImageCodecs
import ImageExport
import Inference
import JobLink
import Synchronization

/// The hidden command that a supervisor starts: takes items from its socket one by one and exports them.
struct WorkerCommand: ParsableCommand {
    static let name = "worker"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    func run() throws {
        let channel = PacketChannel(descriptor: PacketChannel.childDescriptor, .compact)
        // As its supervisor, whose end it notices at their socket.
        for ignored in [SIGHUP, SIGPIPE] { signal(ignored, SIG_IGN) }
        volunteerForOutOfMemory()
        Confinement.closeInherited(from: channel.descriptor + 1)
        let ceiling = MemoryCeiling()
        // Before there is another thread: that one would keep its rights.
        guard let start = try WorkerConfinement.begin(channel) else { return }
        switch start {
        case .items(let work, let outputs, let permit, let entry):
            KeptMemory.begin(work)
            leaveWithSupervisor()
            workOff(ItemConduct(channel, permit), ItemWorker(work, outputs, entry, ceiling), ceiling)
        case .layingOut(let layingOut):
            leaveWithSupervisor()
            guard layingOut.run(ProcessInfo.processInfo.environment) else { throw ExitStatus.bug.code }
        }
    }

    private func workOff(_ conduct: ItemConduct, _ worker: ItemWorker, _ ceiling: MemoryCeiling) {
        let hooks = ProcessInfo.processInfo.environment
        let faults = WorkerFaults(hooks)
        while !conduct.isOver {
            if let (order, environment, inputs) = conduct.nextItem() {
                defer { for descriptor in inputs { close(descriptor) } }
                for (name, value) in environment { setenv(name, value, 1) }
                ceiling.fault = faults.hogging(order.input)
                ceiling.hold(to: order)
                faults.strike(order.input)
                if let escape = WorkerEscapes.result(of: order.input, hooks) {
                    conduct.report(MadeItem(escape))
                    continue
                }
                let goesOn = faults.striking(order.input, faults.slowing(order.input, conduct.mayGoOn))
                let item = worker.make(order, inputs, onProgress: goesOn)
                if item.result.failure?.code == "device" { worker.forget(order.lane) }
                for news in worker.takeNews() { conduct.tell(.laidOut(news)) }
                conduct.report(item)
            }
            if conduct.leavesDevice { worker.forgetDevices() }
        }
        // The supervisor said so; it does not wait.
        hasLeft.store(true, ordering: .releasing)
        worker.storePrograms()
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

/// What makes items of each kind, each made when it is first needed.
private final class ItemWorker {
    private let work: WorkerTerms.Work
    private let lanes = Lanes()
    private let outputs: OutputFolder
    private let entry: WeightEntry?
    private let ceiling: MemoryCeiling
    private lazy var exporter = ImageExporter(lanes: lanes)
    private lazy var verifier = OutputVerifier()
    private let devices = InferenceDevices()
    private lazy var enhancer: Enhancer? =
        if case .enhance(let terms, _) = work { Enhancer(terms, devices, entry, ceiling) } else { nil }
    private lazy var inference: InferenceWorker? =
        if case .infer(let terms) = work { InferenceWorker(terms, devices, entry, ceiling) } else { nil }

    init(_ work: WorkerTerms.Work, _ outputs: OutputFolder, _ entry: WeightEntry?, _ ceiling: MemoryCeiling) {
        self.entry = entry
        self.ceiling = ceiling
        self.work = work
        self.outputs = outputs
    }

    func make(_ order: WorkOrder, _ inputs: [Int32], onProgress: @escaping (ItemProgress) -> Bool) -> MadeItem {
        let made: MadeItem? =
            switch (order, work) {
            case (.export(let picture), .export(let terms)):
                exporter.make(picture.item(terms), input: inputs.first, into: outputs, onProgress: onProgress)
            case (.enhance(let picture), .enhance(_, let terms)):
                inputs.first.flatMap {
                    enhancer?.make(picture.item(terms), input: $0, into: outputs, onProgress: onProgress)
                }
            case (.infer(let item), _): inference?.make(item, inputs: inputs, into: outputs, onProgress: onProgress)
            case (.verify(let item), _):
                inputs.first.map { MadeItem(verifier.verify(item, input: $0, onProgress: onProgress)) }
            default: nil
            }
        guard let made else { preconditionFailure("an item of another kind of work, or without its input") }
        return made
    }

    /// As ``PreparedModels/takeNews()``.
    func takeNews() -> [LaidOutModel] { (inference?.takeNews() ?? []) + (enhancer?.takeNews() ?? []) }

    /// Gives up a device after it failed; the next item opens it anew.
    func forget(_ lane: LaneChoice) {
        lanes.forget(lane)
        guard case .openCL(let identity) = lane else { return }
        enhancer?.forgetDevices()
        inference?.forgetDevices()
        devices.forget(identity)
    }

    /// Gives up every device and what is held there.
    func forgetDevices() {
        lanes.forgetDevices()
        enhancer?.forgetDevices()
        inference?.forgetDevices()
        devices.forgetAll()
    }

    /// Keeps compiled programs for later processes. Slow on some drivers, so called when the work is done.
    func storePrograms() {
        lanes.storePrograms()
        devices.storePrograms()
    }
}

/// The supervisor has no more items, so its end does not matter any more.
private let hasLeft = Atomic<Bool>(false)

/// Test hooks: misbehave on inputs whose path contains a text given in the environment.
struct WorkerFaults {
    /// 1.5 GiB in all: beyond any claim under `--memory 256M`, with what a worker may take beside it.
    private static let (hoggedBlocks, hoggedBytes) = (24, 64 << 20)
    private let crash: String?
    private let crashInModel: String?
    private let hang: String?
    private let die: String?
    private let hog: String?
    /// A path, and how many seconds its encodes take.
    private let slow: (path: String, seconds: Double)?

    init(_ environment: [String: String]) {
        crash = environment["BGRUN_TEST_CRASH_ON"]
        crashInModel = environment["BGRUN_TEST_CRASH_IN_MODEL_ON"]
        hang = environment["BGRUN_TEST_HANG_ON"]
        die = environment["BGRUN_TEST_KILL_ON"]
        hog = environment["BGRUN_TEST_HOG_ON"]
        let parts = (environment["BGRUN_TEST_SLOW_ENCODE_ON"] ?? "").split(separator: ":").map(String.init)
        slow = parts.count == 2 ? Double(parts[1]).map { (parts[0], $0) } : nil
    }

    /// Has encodes of that input take long and hear nothing; the conduct of any other is left as it is.
    func slowing(
        _ input: String, _ mayGoOn: @escaping (ItemProgress) -> Bool
    ) -> (ItemProgress) -> Bool {
        guard let slow, input.contains(slow.path) else { return mayGoOn }
        return { progress in
            guard progress.encode != nil else { return mayGoOn(progress) }
            var slowed = progress
            slowed.encode = .init(seconds: slow.seconds, hearsStop: false)
            defer { usleep(UInt32(slow.seconds * 1e6)) }
            return mayGoOn(slowed)
        }
    }

    /// Crashes when the model has begun with that input.
    func striking(
        _ input: String, _ mayGoOn: @escaping (ItemProgress) -> Bool
    ) -> (ItemProgress) -> Bool {
        guard let crashInModel, input.contains(crashInModel) else { return mayGoOn }
        return { progress in
            let goesOn = mayGoOn(progress)
            if progress.runsModel { Self.crash() }
            return goesOn
        }
    }

    private static func crash() {
        signal(SIGSEGV, SIG_DFL)
        raise(SIGSEGV)
    }

    /// What a library does that does not ask whether there is memory; nil for other inputs.
    func hogging(_ input: String) -> (() -> Void)? {
        guard let hog, input.contains(hog) else { return nil }
        return {
            var blocks: [UnsafeMutableRawPointer] = []
            for _ in 0..<Self.hoggedBlocks {
                guard let block = malloc(Self.hoggedBytes) else { abort() }
                memset(block, 1, Self.hoggedBytes)
                blocks.append(block)
            }
            for block in blocks { free(block) }
        }
    }

    func strike(_ input: String) {
        if let crash, input.contains(crash) { Self.crash() }
        if let die, input.contains(die) { raise(SIGKILL) }
        if let hang, input.contains(hang) {
            while true { pause() }
        }
    }
}
