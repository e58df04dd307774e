import ChunkedCompute
import Dispatch
import Glibc
import ImageExport
import JobLink
import SchedulingCore
import TaskModel

/// How a worker behaves within an item: listens to its supervisor between bands, gives signs of life, rests, stands still
/// and gives up as it is told.
final class ItemConduct {
    /// How much longer than expected a codec may be silent: for a slow machine, and for one that has others to serve.
    private static let silenceSeconds = 60.0
    private static let silenceFactor = 20.0
    /// An encode of so many seconds that hears a stop on its way is as good as any chunk.
    private static let chunkSeconds = 0.05
    /// Shortest time between two signs of life.
    private static let signInterval: Duration = .milliseconds(250)
    /// Shortest time between two looks at the supervisor and the clock's due dates: bands may be shorter than what these
    /// take, and either is little beside the chunks of its priority. Nanoseconds.
    private static let lookInterval: (foreground: Int, background: Int) = (16_000_000, 8_000_000)
    /// Shortest time between two turns given to others. The kernel does not always let whoever wakes preempt at once; then
    /// the next turn is what ends their wait, and a turn that nobody takes costs about a microsecond.
    private static let turnInterval: Duration = .microseconds(250)

    /// Who waited for the processor for so long waited for somebody who works.
    private static let shortestWait: Duration = .milliseconds(1)
    private static let longestAbsence: Duration = .milliseconds(50)
    /// Who stands still for longer needs no memory meanwhile that it does not hold anything in.
    private static let shortHalt: Duration = .seconds(1)

    private let channel: PacketChannel
    private let clock = SuspendingClock()
    private let begin: SuspendingClock.Instant
    private var pacer = ChunkPacer()
    private var nextSign: Duration = .zero
    /// By ``lookClock``.
    private var nextLook = 0
    private var nextTurn: Duration = .zero
    /// Whoever wants the processor gets it between two bands, not at the kernel's next tick.
    private var givesWay = false
    private var isOnDevice = false
    /// In a codec that gives few signs of life or none.
    private var isSilent = false
    private var saidHalted = false
    /// What the supervisor knows of the item.
    private var saidRunsModel = false
    /// Items that were begun before the one in work.
    private var begunBefore = -1
    private let next: NextItem<HandedOut>
    /// Commits outputs and reports what came of their items. A disk that is waited for keeps no processor from the next item.
    private let commits = DispatchQueue(label: "bgrun.commits")
    /// What it reported last may not be written down yet.
    private var awaitsNote = false
    /// The device was taken away: nothing that is held there may be kept.
    private(set) var leavesDevice = false
    /// The supervisor is gone, or said that nothing comes any more.
    private(set) var isOver = false

    /// An item with its inputs' descriptors.
    typealias HandedOut = (order: WorkOrder, environment: [String: String], inputs: [Int32])

    init(_ channel: PacketChannel, _ permit: BeginPermit) {
        self.channel = channel
        next = NextItem(permit)
        begin = clock.now
    }

    private var now: Duration { begin.duration(to: clock.now) }

    /// Nanoseconds. In the foreground up to a tick of the kernel (1...10 ms) behind, for a quarter of what the exact time costs:
    /// it is asked for after every band.
    private var lookClock: Int {
        var time = timespec()
        clock_gettime(givesWay ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// Waits for the next item; nil when none comes any more, or when the device is to be left before.
    func nextItem() -> HandedOut? {
        leavesDevice = false
        while !isOver, !leavesDevice {
            let item = next.take {
                itemBegins()
                listenIfAsked()
            }
            if let item {
                isOnDevice = item.order.lane != .cpu
                saidRunsModel = false
                begunBefore += 1
                return item
            }
            waitForNext()
        }
        return nil
    }

    /// What is heard from now on is meant for the next item.
    private func itemBegins() {
        saidHalted = false
        isSilent = false
        let now = now
        nextSign = now + Self.signInterval
        pacer.itemBegins(at: now)
    }

    /// Tells what came of the item, once it is committed; the next one may begin.
    func report(_ item: MadeItem) {
        pacer.itemEnds(at: now)
        if item.awaitsCommit {
            // That the supervisor is gone is heard when it is listened to.
            commits.async { [channel] in _ = channel.send(WorkerMessage.result(item.commit())) }
        } else {
            tell(.result(item.result))
        }
        // Whoever commits it or writes it down may be waiting for this processor.
        sched_yield()
        awaitsNote = true
    }

    /// To be called between bands.
    ///
    /// - Returns: Whether to go on with the item.
    func mayGoOn(_ progress: ItemProgress) -> Bool {
        if progress.runsModel != saidRunsModel {
            saidRunsModel = progress.runsModel
            // Not behind the commit of the item before, which may wait for a disk.
            if case .closed = channel.send(WorkerMessage.runsModel(saidRunsModel, behind: begunBefore)) {
                isOver = true
            }
        }
        // A kill costs what is in work, and one item of each worker at most is made and not written down.
        while progress.commits, awaitsNote, !isOver { listen(waiting: true, duringItem: true) }
        let isAsGoodAsAnyChunk = progress.encode.map { $0.hearsStop && $0.seconds < Self.chunkSeconds } ?? false
        let silence = isAsGoodAsAnyChunk ? nil : progress.silentSeconds
        guard silence == nil, !isSilent, !isOver else { return look(progress, silence: silence) }
        guard lookClock < nextLook else { return look(progress, silence: nil) }
        if givesWay, now >= nextTurn { giveWay() }
        return true
    }

    /// Listens, and does what is due. `silence` is for how many seconds a codec that runs next is not heard of; nil for none.
    private func look(_ progress: ItemProgress, silence: Double?) -> Bool {
        if let expected = silence {
            let now = now
            if !isSilent || now >= nextSign {
                nextSign = now + Self.signInterval
                let longest = Self.silenceSeconds + Self.silenceFactor * expected
                tell(.silent(seconds: longest, encode: isSilent ? nil : progress.encode))
            }
        }
        isSilent = silence != nil
        let fraction = Double(progress.done) / Double(max(progress.total, 1))
        listenIfAsked()
        while !isOver {
            let now = now
            switch pacer.step(fraction: fraction, at: now) {
            case .goOn:
                giveSign(progress, at: now)
                if givesWay { giveWay() }
                nextLook = lookClock + (givesWay ? Self.lookInterval.background : Self.lookInterval.foreground)
                return true
            case .giveUp:
                return false
            case .rest(let end):
                giveSign(progress, at: now)
                wait(min(end - now, Self.signInterval))
            case .halt:
                if saidHalted {
                    KeptMemory.giveBack()
                    wait(nil)
                } else {
                    tell(.halted)
                    saidHalted = true
                    wait(Self.shortHalt)
                }
            }
            listenIfAsked()
        }
        return false
    }

    /// Lets others have the processor, and stays away for a while when there were any: even the lowest weight has a share.
    private func giveWay() {
        let before = now
        sched_yield()
        let waited = now - before
        if waited >= Self.shortestWait { wait(min(waited * 2, Self.longestAbsence)) }
        nextTurn = now + Self.turnInterval
    }

    private func giveSign(_ progress: ItemProgress, at now: Duration) {
        guard now >= nextSign, !isSilent, progress.isSign else { return }
        nextSign = now + Self.signInterval
        tell(.progress(done: progress.done, total: progress.total))
    }

    /// Messages come in the order of the items that they are about.
    func tell(_ message: WorkerMessage) {
        commits.sync {}
        if case .closed = channel.send(message) { isOver = true }
    }

    /// Sleeps until the supervisor says something, at most for so long.
    private func wait(_ limit: Duration?) {
        var ends = pollfd(fd: channel.descriptor, events: Int16(POLLIN), revents: 0)
        guard let limit else {
            _ = poll(&ends, 1, -1)
            return
        }
        let microseconds = max(Int(limit / .microseconds(1)), 0)
        // What is left below a millisecond comes with the next round.
        if microseconds >= 1000 {
            _ = poll(&ends, 1, Int32(clamping: microseconds / 1000))
        } else {
            usleep(UInt32(microseconds))
        }
    }

    /// Takes one message, or returns when the item ahead may begin: others may come after it.
    private func waitForNext() {
        var ends = [
            pollfd(fd: channel.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: next.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&ends, nfds_t(ends.count), -1) > 0, ends[1].revents == 0 else { return }
        listen(waiting: false, duringItem: false)
    }

    private func listenIfAsked() {
        var ends = pollfd(fd: channel.descriptor, events: Int16(POLLIN), revents: 0)
        while !isOver, poll(&ends, 1, 0) > 0 { listen(waiting: false, duringItem: true) }
    }

    /// Takes one message.
    private func listen(waiting: Bool, duringItem: Bool) {
        var inputs: [Int32] = []
        switch channel.receive(HostMessage.self, waiting: waiting, descriptors: &inputs) {
        case .message(let message): obey(message, inputs, duringItem: duringItem)
        case .nothingYet: break
        case .closed: isOver = true
        }
    }

    private func obey(_ message: HostMessage, _ inputs: [Int32], duringItem: Bool) {
        switch message {
        case .run(let order, let environment):
            next.give((order, environment, inputs))
            itemBegins()
            // It comes after what was reported before is written down.
            awaitsNote = false
        case .runAhead(let order, let notes):
            next.sendAhead((order, [:], inputs))
            if notes { awaitsNote = false }
        case .noted:
            awaitsNote = false
        case .withdraw:
            for input in next.withdraw()?.inputs ?? [] { close(input) }
        case .terms(let terms):
            givesWay = terms.priority == .background
            pacer.setTerms(chunkTarget: terms.chunkTarget, dutyCycle: terms.dutyCycle, at: now)
        case .halt:
            // One that came after the item had ended was meant for it.
            if duringItem { pacer.halt() }
        case .goOn:
            saidHalted = false
            pacer.goOn(at: now)
        case .giveUp(let limit):
            if duringItem { pacer.finish(by: now + limit) }
        case .leaveDevice:
            leavesDevice = true
            if isOnDevice { pacer.giveUp() }
        case .leave:
            isOver = true
        case .confine, .layOut:
            preconditionFailure("the worker is at work already")
        }
    }
}
