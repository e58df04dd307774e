import SchedulingCore
import SeededNumbers
import TaskModel
import Testing

/// A job that is paused, given more or less of the machine, taken off its device, or stopped in a hurry.
@Suite struct JobControlTests {
    private let limits = JobMachine.Limits(workers: 2, claimBytes: 1000)
    private let cpu = LanePolicy(.cpu, deviceIsUsable: false)

    private func started(_ items: Int, lanes: LanePolicy? = nil) -> JobMachine {
        var machine = JobMachine(itemCount: items, limits: limits, lanes: lanes ?? cpu)
        _ = machine.start(at: .zero)
        return machine
    }

    @Test("rule 94: a pause halts what is in flight, tells when it stands still, and goes on where it was")
    func aPauseHaltsWhatIsInFlightAndGoesOnWhereItWas() {
        var machine = started(4)
        #expect(machine.pause(at: .milliseconds(10)) == [.halt(worker: 1), .halt(worker: 0)])
        #expect(machine.halted(worker: 0, at: .milliseconds(20)) == [])
        #expect(!machine.isPaused)
        #expect(machine.halted(worker: 1, at: .milliseconds(30)) == [.paused])
        #expect(machine.isPaused)
        #expect(machine.nextDeadline == nil, "what stands still cannot hang")
        #expect(machine.timePassed(now: .seconds(10_000)) == [])
        #expect(machine.resume(at: .seconds(10_000)) == [.goOn(worker: 0), .goOn(worker: 1)])
        #expect(machine.nextDeadline == .seconds(10_060))
    }

    @Test func anItemThatEndsWhileItWasToHaltIsSettledAndNothingFollowsIt() {
        var machine = started(4)
        _ = machine.pause(at: .milliseconds(10))
        _ = machine.halted(worker: 1, at: .milliseconds(12))
        #expect(
            machine.itemFinished(worker: 0, .made(megapixels: 1), at: .milliseconds(15))
                == [.settle(item: 0, .reported), .paused])
        #expect(
            machine.resume(at: .seconds(1))
                == [.goOn(worker: 1), .run(item: 2, worker: 0, .init(lane: .cpu, claimBytes: 500, alone: false))])
    }

    @Test func aPauseBeforeTheStartStartsNothing() {
        var machine = JobMachine(itemCount: 2, limits: limits, lanes: cpu)
        #expect(machine.pause(at: .zero) == [])
        #expect(machine.start(at: .zero) == [.paused])
        #expect(machine.pause(at: .seconds(1)) == [.paused], "asked again, answered again")
        #expect(machine.resume(at: .seconds(2)).count == 2)
    }

    @Test func aWorkerThatDoesNotHaltIsFoundHanging() {
        var machine = started(1)
        _ = machine.pause(at: .seconds(1))
        #expect(machine.timePassed(now: .seconds(60)) == [.kill(worker: 0)])
        #expect(
            machine.workerDied(worker: 0, .signaled(9), at: .seconds(61))
                == [.settle(item: 0, .hung(after: .seconds(60))), .finish(.completed(failures: 1))])
    }

    @Test func theTimeThatAnItemStoodStillSaysNothingAboutItsLane() {
        var machine = JobMachine(
            itemCount: 20, limits: .init(workers: 1, claimBytes: 1000),
            lanes: LanePolicy(.measured, deviceIsUsable: true))
        var actions = machine.start(at: .zero)
        var now = Duration.zero
        for _ in 0..<12 {
            guard case .run(_, _, let terms)? = actions.last else { break }
            _ = machine.pause(at: now)
            _ = machine.halted(worker: 0, at: now)
            // The faster lane stands still for long.
            now += terms.lane == .device ? .seconds(100) : .zero
            _ = machine.resume(at: now)
            now += terms.lane == .device ? .seconds(1) : .seconds(2)
            actions = machine.itemFinished(worker: 0, .made(megapixels: 24), at: now)
        }
        #expect(machine.lanes.choice == .device)
    }

    @Test("rule 89: fewer at once halts the latest at its next chunk, more lets it go on before anything new starts")
    func fewerAtOnceHaltsTheLatest() {
        var machine = started(6)
        #expect(machine.allow(concurrency: 1, at: .milliseconds(5)) == [.halt(worker: 1)])
        _ = machine.halted(worker: 1, at: .milliseconds(6))
        #expect(
            machine.itemFinished(worker: 0, .made(megapixels: 1), at: .milliseconds(20))
                == [.settle(item: 0, .reported), .goOn(worker: 1)])
        #expect(
            machine.itemFinished(worker: 1, .made(megapixels: 1), at: .milliseconds(30))
                == [
                    .settle(item: 1, .reported),
                    .run(item: 2, worker: 0, .init(lane: .cpu, claimBytes: 500, alone: false)),
                ])
        #expect(
            machine.allow(concurrency: 8, at: .milliseconds(40))
                == [.run(item: 3, worker: 1, .init(lane: .cpu, claimBytes: 500, alone: false))],
            "no more than there are workers")
    }

    @Test("rule 75: a stop in a hurry has items given up, and kills what is left at its limit")
    func aStopInAHurryGivesUp() {
        var machine = started(6)
        #expect(
            machine.stop(.preempted, within: .milliseconds(150), at: .seconds(1))
                == [.giveUp(worker: 0), .giveUp(worker: 1)])
        #expect(machine.itemFinished(worker: 0, .givenUp, at: .milliseconds(1050)) == [.settle(item: 0, .unfinished)])
        #expect(machine.nextDeadline == .milliseconds(1150))
        #expect(machine.timePassed(now: .milliseconds(1150)) == [.kill(worker: 1)])
        let last = machine.workerDied(worker: 1, .signaled(9), at: .milliseconds(1151))
        #expect(last.first == .settle(item: 1, .unfinished))
        #expect(last.last == .finish(.stopped(.preempted)))
    }

    @Test func aStopEndsAPauseWithoutGoingOn() {
        var machine = started(3)
        _ = machine.pause(at: .zero)
        _ = machine.halted(worker: 0, at: .milliseconds(1))
        _ = machine.halted(worker: 1, at: .milliseconds(1))
        #expect(
            machine.stop(.userStop, within: .milliseconds(100), at: .seconds(1))
                == [.giveUp(worker: 0), .giveUp(worker: 1)])
        var graceful = started(3)
        _ = graceful.pause(at: .zero)
        _ = graceful.halted(worker: 0, at: .milliseconds(1))
        #expect(
            graceful.stop(.userStop, at: .seconds(1)) == [.goOn(worker: 0), .goOn(worker: 1)],
            "with the grace time, items in flight come to their ends")
    }

    @Test func aSecondStopMayShortenTheFirstAndKeepsItsReason() {
        var machine = started(3)
        _ = machine.stop(.shutdown, at: .zero)
        #expect(machine.nextDeadline == .seconds(5))
        #expect(machine.stop(.userStop, within: .seconds(1), at: .seconds(1)).contains(.giveUp(worker: 0)))
        #expect(machine.nextDeadline == .seconds(2))
        _ = machine.stop(.userStop, within: .seconds(60), at: .seconds(1))
        #expect(machine.nextDeadline == .seconds(2), "never later")
        _ = machine.itemFinished(worker: 0, .givenUp, at: .seconds(1))
        #expect(machine.itemFinished(worker: 1, .givenUp, at: .seconds(1)).last == .finish(.stopped(.shutdown)))
    }

    @Test func aLostDeviceHandsItsItemsToTheCPU() {
        var machine = started(4, lanes: LanePolicy(.preferDevice, deviceIsUsable: true))
        #expect(machine.leaveDevice(at: .seconds(1)) == [.giveUp(worker: 0), .giveUp(worker: 1)])
        let onCPU = JobMachine.Terms(lane: .cpu, claimBytes: 500, alone: false)
        #expect(
            machine.itemFinished(worker: 0, .givenUp, at: .seconds(2)) == [.run(item: 0, worker: 0, onCPU)])
        #expect(machine.timePassed(now: .seconds(6)) == [.kill(worker: 1)], "a driver that does not return")
        #expect(
            machine.workerDied(worker: 1, .signaled(9), at: .seconds(6)) == [.run(item: 1, worker: 1, onCPU)])
        machine.deviceFound()
        #expect(
            machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(7)).last
                == .run(item: 2, worker: 1, onCPU))
    }

    private func startedAhead(_ items: Int) -> (machine: JobMachine, actions: [JobMachine.Action]) {
        let limits = JobMachine.Limits(workers: 2, claimBytes: 1000, handsOutAhead: true)
        var machine = JobMachine(itemCount: items, limits: limits, lanes: cpu)
        let actions = machine.start(at: .zero)
        return (machine, actions)
    }

    private let shared = JobMachine.Terms(lane: .cpu, claimBytes: 500, alone: false)

    @Test func workersHaveTheNextItemAheadUntilWhatIsLeftIsSharedOut() {
        let (begun, actions) = startedAhead(6)
        var machine = begun
        #expect(
            actions == [
                .run(item: 0, worker: 0, shared), .run(item: 1, worker: 1, shared),
                .runAfter(item: 2, worker: 0, shared), .runAfter(item: 3, worker: 1, shared),
            ])
        #expect(
            machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(1))
                == [.settle(item: 1, .reported), .began(item: 3, worker: 1)], "two workers, two items left")
        #expect(machine.nextDeadline == .seconds(60), "of the item that began at first")
        #expect(
            machine.itemFinished(worker: 1, .failed, at: .seconds(2))
                == [.settle(item: 3, .reported), .run(item: 4, worker: 1, shared)])
    }

    @Test func aWorkerWithNothingToDoGetsWhatWaitsForAnother() {
        var machine = startedAhead(5).machine
        #expect(
            machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(1)).last
                == .run(item: 3, worker: 1, shared))
        #expect(
            machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(2)).last
                == .run(item: 4, worker: 1, shared))
        #expect(
            machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(3))
                == [.settle(item: 4, .reported), .withdraw(worker: 0)])
        #expect(machine.timePassed(now: .seconds(4)) == [], "once is enough")
        #expect(machine.withdrawn(worker: 0, at: .seconds(5)) == [.run(item: 2, worker: 1, shared)])
        #expect(machine.withdrawn(worker: 0, at: .seconds(6)) == [], "there is nothing more to take back")
    }

    @Test func aWorkerIsNeededAsLongAsAnItemMayComeToIt() {
        var machine = startedAhead(5).machine
        #expect(!machine.hasHandedOutAll, "an item is left, and two wait for their workers")
        _ = machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(1))
        _ = machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(2))
        _ = machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(3))
        #expect(!machine.hasHandedOutAll, "one waits behind that of the other worker")
        _ = machine.withdrawn(worker: 0, at: .seconds(3))
        #expect(machine.hasHandedOutAll)
        _ = machine.itemFinished(worker: 0, .made(megapixels: 1), at: .seconds(4))
        #expect(machine.hasHandedOutAll, "the last one is at work")
        _ = machine.itemFinished(worker: 1, .needsMemory, at: .seconds(5))
        #expect(machine.hasHandedOutAll, "it was handed out again, by itself")
    }

    @Test func anItemThatHasBegunIsNotTakenBack() {
        var machine = startedAhead(5).machine
        _ = machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(1))
        _ = machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(1))
        #expect(
            machine.itemFinished(worker: 1, .made(megapixels: 1), at: .seconds(2)).last == .withdraw(worker: 0))
        #expect(
            machine.itemFinished(worker: 0, .made(megapixels: 1), at: .seconds(3))
                == [.settle(item: 0, .reported), .began(item: 2, worker: 0)])
        #expect(
            machine.itemFinished(worker: 0, .made(megapixels: 1), at: .seconds(4))
                == [.settle(item: 2, .reported), .finish(.completed(failures: 0))])
    }

    @Test("rule 94: a worker that was to halt and has begun its next item halts there")
    func aWorkerHaltsInTheItemThatItHadAhead() {
        var machine = startedAhead(6).machine
        #expect(
            machine.pause(at: .milliseconds(10)) == [
                .withdraw(worker: 1), .halt(worker: 1), .withdraw(worker: 0), .halt(worker: 0),
            ])
        #expect(machine.withdrawn(worker: 1, at: .milliseconds(11)) == [])
        #expect(machine.halted(worker: 1, at: .milliseconds(12)) == [])
        #expect(
            machine.itemFinished(worker: 0, .made(megapixels: 1), at: .milliseconds(13))
                == [.settle(item: 0, .reported), .began(item: 2, worker: 0)])
        #expect(!machine.isPaused)
        #expect(machine.halted(worker: 0, at: .milliseconds(14)) == [.paused])
        #expect(
            machine.resume(at: .seconds(1)) == [
                .goOn(worker: 1), .goOn(worker: 0), .runAfter(item: 3, worker: 0, shared),
            ], "what was taken back comes first")
    }

    @Test("rule 75: a stop takes back what has not begun, and has items that began in between given up")
    func aStopTakesBackWhatHasNotBegun() {
        var machine = startedAhead(5).machine
        #expect(
            machine.stop(.preempted, within: .milliseconds(150), at: .milliseconds(10)) == [
                .withdraw(worker: 0), .giveUp(worker: 0), .giveUp(worker: 1),
            ])
        #expect(
            machine.itemFinished(worker: 0, .made(megapixels: 1), at: .milliseconds(11))
                == [.settle(item: 0, .reported), .began(item: 2, worker: 0)])
        #expect(machine.nextDeadline == .milliseconds(160))
        #expect(
            machine.itemFinished(worker: 0, .givenUp, at: .milliseconds(20)) == [.settle(item: 2, .unfinished)])
        #expect(
            machine.itemFinished(worker: 1, .givenUp, at: .milliseconds(20)) == [
                .settle(item: 1, .unfinished), .settle(item: 3, .unfinished), .settle(item: 4, .unfinished),
                .finish(.stopped(.preempted)),
            ])
    }

    @Test func whatWaitedForAWorkerThatDiedIsDoneByAnother() {
        var machine = startedAhead(6).machine
        #expect(
            machine.workerDied(worker: 0, .signaled(11), at: .seconds(1)) == [
                .settle(item: 0, .crashed(.signaled(11))), .run(item: 2, worker: 0, shared),
            ])
        var hung = startedAhead(6).machine
        hung.progressed(worker: 1, at: .seconds(30))
        #expect(hung.timePassed(now: .seconds(60)) == [.kill(worker: 0)])
        #expect(
            hung.workerDied(worker: 0, .signaled(9), at: .seconds(61)) == [
                .settle(item: 0, .hung(after: .seconds(60))), .run(item: 2, worker: 0, shared),
            ])
    }

    @Test func ofTwoItemsOfAWorkerThatDiedTheOneThatItWasAtIsToBlame() {
        var machine = startedAhead(6).machine
        #expect(
            machine.workerDied(worker: 0, .signaled(11), hadBegunNext: true, at: .seconds(1)) == [
                .settle(item: 2, .crashed(.signaled(11))), .run(item: 0, worker: 0, shared),
            ])
        // Killed, and so done again alone; the one before it is not suspected of having been too large.
        var killed = startedAhead(6).machine
        #expect(
            killed.workerDied(worker: 0, .signaled(9), hadBegunNext: true, at: .seconds(1)) == [
                .run(item: 0, worker: 0, shared)
            ])
    }

    @Test func whatMayGoToADeviceIsNotHandedOutAhead() {
        let limits = JobMachine.Limits(workers: 2, claimBytes: 1000, handsOutAhead: true)
        var machine = JobMachine(
            itemCount: 9, limits: limits, lanes: LanePolicy(.preferDevice, deviceIsUsable: true))
        #expect(machine.start(at: .zero).count == 2)
    }

    /// Whatever is ordered, at whatever moments: one settlement for each item, one outcome, never more at once than
    /// allowed, nothing handed out in a pause, and every pause is answered.
    @Test("rule 89, rule 94: nothing is lost whatever is ordered") func nothingIsLostWhateverIsOrdered() {
        for ahead in [false, true] { nothingIsLost(handingOutAhead: ahead) }
    }

    private func nothingIsLost(handingOutAhead ahead: Bool) {
        for seed in 0..<600 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 0...30, using: &random)
            let behaviours = (0..<count).map { _ -> JobSimulation.Behaviour in
                switch Int.random(in: 0..<14, using: &random) {
                case 0: .bad
                case 1: .hungry
                case 2: .deviceBreaks
                case 3: .crashes(11)
                case 4: .crashes(9)
                case 5: .hangs
                default: .good
                }
            }
            let times = (0..<count).map { _ in Duration.milliseconds(Int.random(in: 1...400, using: &random)) }
            let preferences: [LanePolicy.Preference] = [.cpu, .preferDevice, .measured]
            let preference = preferences[Int.random(in: 0..<3, using: &random)]
            let limits = JobMachine.Limits(
                workers: Int.random(in: 1...5, using: &random), claimBytes: 1 << 20, handsOutAhead: ahead)
            var job = JobSimulation(
                items: count, limits: limits, lanes: LanePolicy(preference, deviceIsUsable: true),
                behaviour: { behaviours[$0] }, itemTime: { times[$0] })
            var time = Duration.zero
            var pauses = 0
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                time += .milliseconds(Int.random(in: 0...500, using: &random))
                switch Int.random(in: 0..<4, using: &random) {
                case 0: job.order(.allow(Int.random(in: 1...6, using: &random)), at: time)
                case 1: job.order(.leaveDevice, at: time)
                default:
                    job.order(.pause, at: time)
                    pauses += 1
                    time += .milliseconds(Int.random(in: 0...900, using: &random))
                    job.order(.resume, at: time)
                }
            }
            let stops = Bool.random(using: &random)
            if stops {
                job.order(.stop(.preempted, within: .milliseconds(150)), at: time + .milliseconds(100))
            }
            job.run()
            #expect(job.broken.isEmpty, "seed \(seed): \(job.broken)")
            #expect(job.outcomes.count == 1, "seed \(seed)")
            #expect(job.settled.count == count, "seed \(seed)")
            #expect(job.settled.values.allSatisfy { $0.count == 1 }, "seed \(seed)")
            #expect(job.pauses.count <= pauses, "seed \(seed)")
            if !stops { #expect(!job.settled.values.contains([.unfinished]), "seed \(seed)") }
        }
    }
}
