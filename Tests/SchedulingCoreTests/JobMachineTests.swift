import SchedulingCore
import SeededNumbers
import TaskModel
import Testing

@Suite struct JobMachineTests {
    private let limits = JobMachine.Limits(workers: 2, claimBytes: 1000, hang: .seconds(60), grace: .seconds(5))

    @Test func everyItemRunsOnceInOrderWithAShareOfTheMemory() {
        var job = JobSimulation(items: 7, limits: limits)
        job.run()
        #expect(job.runs.map(\.item) == Array(0..<7))
        #expect(job.runs.allSatisfy { $0.terms.claimBytes == 500 && !$0.terms.alone })
        #expect(job.outcomes == [.completed(failures: 0)])
        #expect(job.mostInFlight == 2)
    }

    @Test func aJobWithoutItemsCompletesAtOnce() {
        var job = JobSimulation(items: 0, limits: limits)
        job.run()
        #expect(job.outcomes == [.completed(failures: 0)])
        #expect(job.runs.isEmpty)
    }

    @Test func failedItemsAreCountedAndStopNothing() {
        var job = JobSimulation(items: 6, limits: limits) { $0 % 2 == 0 ? .bad : .good }
        job.run()
        #expect(job.outcomes == [.completed(failures: 3)])
        #expect(job.settled.count == 6)
    }

    @Test func anItemThatNeedsMoreThanItsShareRunsAgainAloneWithTheWholeClaim() {
        var job = JobSimulation(items: 5, limits: limits) { $0 == 1 ? .hungry : .good }
        job.run()
        #expect(job.runs.last?.item == 1)
        #expect(job.runs.last?.terms.claimBytes == 1000)
        #expect(job.runs.last?.terms.alone == true)
        #expect(job.broken.isEmpty)
        #expect(job.outcomes == [.completed(failures: 0)])
    }

    @Test func aSingleWorkerHasTheWholeClaimSoNothingIsTriedTwice() {
        let limits = JobMachine.Limits(workers: 1, claimBytes: 1000)
        var job = JobSimulation(items: 2, limits: limits) { _ in .hungry }
        job.run()
        #expect(job.runs.count == 2)
        #expect(job.outcomes == [.completed(failures: 2)])
    }

    @Test func aCrashedDecoderCostsOneItem() {
        var job = JobSimulation(items: 4, limits: limits) { $0 == 2 ? .crashes(11) : .good }
        job.run()
        #expect(job.settled[2] == [.crashed(.signaled(11))])
        #expect(job.runs.count == 4)
        #expect(job.outcomes == [.completed(failures: 1)])
    }

    @Test func anItemWhoseWorkerWasKilledIsTriedOnceMoreAlone() {
        var job = JobSimulation(items: 4, limits: limits) { $0 == 0 ? .crashes(9) : .good }
        job.run()
        #expect(job.runs.filter { $0.item == 0 }.map(\.terms.alone) == [false, true])
        #expect(job.settled[0] == [.crashed(.signaled(9))])
        #expect(job.outcomes == [.completed(failures: 1)])
    }

    @Test func aSilentItemIsKilledAtTheHangLimit() {
        var job = JobSimulation(items: 3, limits: limits) { $0 == 1 ? .hangs : .good }
        job.run()
        #expect(job.settled[1] == [.hung(after: .seconds(60))])
        #expect(job.outcomes == [.completed(failures: 1)])
    }

    @Test func aSignOfLifeExtendsTheHangLimit() {
        var job = JobSimulation(items: 1, limits: limits, itemTime: { _ in .seconds(110) })
        job.run()
        #expect(job.settled[0] == [.reported], "a sign came after 55 s, the end 55 s later")
    }

    @Test func aPhaseThatIsKnownToBeSilentExtendsTheHangLimitOnce() {
        var machine = JobMachine(itemCount: 1, limits: limits, lanes: LanePolicy(.cpu, deviceIsUsable: false))
        _ = machine.start(at: .zero)
        machine.entersSilentPhase(worker: 0, of: .seconds(100), at: .seconds(10))
        #expect(machine.nextDeadline == .seconds(110))
        #expect(machine.timePassed(now: .seconds(109)).isEmpty)
        machine.progressed(worker: 0, at: .seconds(109))
        #expect(machine.nextDeadline == .seconds(169), "the next sign of life ends the phase")
        machine.entersSilentPhase(worker: 0, of: .seconds(20), at: .seconds(160))
        #expect(machine.nextDeadline == .seconds(220), "a short phase takes nothing away")
        #expect(machine.timePassed(now: .seconds(220)) == [.kill(worker: 0)])
        #expect(
            machine.workerDied(worker: 0, .signaled(9), at: .seconds(221)).first
                == .settle(item: 0, .hung(after: .seconds(60))))
    }

    /// A machine with one item on each of two workers, whose first is in an encode of ten seconds since second 10.
    private func encoding(hearsStop: Bool, seconds: Double = 10) -> JobMachine {
        var machine = JobMachine(itemCount: 2, limits: limits, lanes: LanePolicy(.cpu, deviceIsUsable: false))
        _ = machine.start(at: .zero)
        machine.entersSilentPhase(
            worker: 0, of: .seconds(100), encode: .init(expected: .seconds(seconds), hearsStop: hearsStop),
            at: .seconds(10))
        return machine
    }

    @Test(arguments: [true, false]) func aStopSparesTheEncodeInWork(hearsStop: Bool) {
        var machine = encoding(hearsStop: hearsStop)
        _ = machine.stop(.userStop, at: .seconds(14))
        #expect(machine.encodeWait(at: .seconds(14)) == .init(expected: .seconds(6), longest: .seconds(16)))
        #expect(machine.nextDeadline == .seconds(19))
        #expect(machine.timePassed(now: .seconds(19)) == [.kill(worker: 1)], "the other has the grace alone")
        #expect(machine.nextDeadline == .seconds(30), "twice what it is to take")
        #expect(machine.timePassed(now: .seconds(29)).isEmpty)
        #expect(machine.timePassed(now: .seconds(30)) == [.kill(worker: 0)])
    }

    @Test func anEncodeThatIsNotToEndInTimeIsNotSpared() {
        var machine = encoding(hearsStop: false, seconds: 36)
        _ = machine.stop(.userStop, at: .seconds(14))
        #expect(machine.encodeWait(at: .seconds(14)) == nil, "30 s are six times the grace, 32 are left")
        #expect(machine.timePassed(now: .seconds(19)).count == 2)
        var late = encoding(hearsStop: false, seconds: 34)
        _ = late.stop(.userStop, at: .seconds(14))
        #expect(late.encodeWait(at: .seconds(14)) == .init(expected: .seconds(30), longest: .seconds(30)))
        var overdue = encoding(hearsStop: false, seconds: 2)
        _ = overdue.stop(.userStop, at: .seconds(14))
        #expect(overdue.encodeWait(at: .seconds(14)) == nil, "nobody knows when it ends")
        #expect(overdue.timePassed(now: .seconds(19)).count == 2)
    }

    @Test func aStopWithALimitSparesOnlyWhatHearsNothingAndWithinTheGrace() {
        let limit = Duration.milliseconds(150)
        var hearing = encoding(hearsStop: true)
        _ = hearing.stop(.userStop, within: limit, at: .seconds(17))
        #expect(hearing.timePassed(now: .seconds(17) + limit).count == 2)
        var deaf = encoding(hearsStop: false)
        let asked = deaf.stop(.userStop, within: limit, at: .seconds(17))
        #expect(asked == [.giveUp(worker: 0), .giveUp(worker: 1)])
        #expect(deaf.timePassed(now: .seconds(17) + limit) == [.kill(worker: 1)])
        #expect(deaf.nextDeadline == .milliseconds(21_500), "nine tenths of the grace")
        var long = encoding(hearsStop: false)
        _ = long.stop(.userStop, within: limit, at: .seconds(15))
        #expect(long.timePassed(now: .seconds(15) + limit).count == 2, "five seconds are left, more than 4.5")
        var second = encoding(hearsStop: false)
        _ = second.stop(.userStop, at: .seconds(14))
        _ = second.stop(.userStop, within: limit, at: .seconds(15))
        #expect(second.timePassed(now: .seconds(15) + limit).count == 2, "the later stop is the shorter one")
    }

    @Test func aStopWaitsForOneEncodeOfEachWorker() {
        var machine = encoding(hearsStop: false)
        _ = machine.stop(.userStop, at: .seconds(14))
        let next = JobMachine.Encode(expected: .seconds(2), hearsStop: false)
        machine.entersSilentPhase(worker: 0, of: .seconds(100), encode: next, at: .seconds(20))
        #expect(machine.timePassed(now: .seconds(20)).contains(.kill(worker: 0)), "the next output's is another")
        // One that begins between the stop and its deadline is the first.
        var first = JobMachine(itemCount: 1, limits: limits, lanes: LanePolicy(.cpu, deviceIsUsable: false))
        _ = first.start(at: .zero)
        _ = first.stop(.userStop, at: .seconds(1))
        first.entersSilentPhase(
            worker: 0, of: .seconds(100), encode: .init(expected: .seconds(8), hearsStop: true), at: .seconds(2))
        #expect(first.timePassed(now: .seconds(6)).isEmpty)
        #expect(first.nextDeadline == .seconds(18))
        #expect(
            first.itemFinished(worker: 0, .made(megapixels: 1), at: .seconds(9)).last
                == .finish(.completed(failures: 0)))
    }

    @Test func afterAStopNothingIsHandedOutAndItemsInFlightFinish() {
        var job = JobSimulation(items: 10, limits: limits)
        job.stop(.userStop, at: .milliseconds(150))
        job.run()
        #expect(job.runs.map(\.item) == [0, 1, 2, 3])
        #expect(job.settled[3] == [.reported])
        #expect(job.settled[4] == [.unfinished])
        #expect(job.outcomes == [.stopped(.userStop)])
        #expect(job.now == .milliseconds(200))
    }

    @Test func theFirstStopReasonIsTheOneReported() {
        var job = JobSimulation(items: 10, limits: limits)
        job.stop(.timeBudget, at: .milliseconds(120))
        job.stop(.userStop, at: .milliseconds(130))
        job.run()
        #expect(job.outcomes == [.stopped(.timeBudget)])
    }

    @Test func aStopThatLostTheRaceWithTheLastItemsIsACompletion() {
        var job = JobSimulation(items: 2, limits: limits)
        job.stop(.userStop, at: .milliseconds(50))
        job.run()
        #expect(job.outcomes == [.completed(failures: 0)])
    }

    @Test func itemsStillInFlightWhenTheGraceEndsAreLeftToALaterRun() {
        var job = JobSimulation(items: 4, limits: limits) { $0 == 1 ? .hangs : .good }
        job.stop(.userStop, at: .milliseconds(10))
        job.run()
        #expect(job.settled[0] == [.reported])
        #expect(job.settled[1] == [.unfinished])
        #expect(job.outcomes == [.stopped(.userStop)])
        #expect(job.now < .seconds(6))
    }

    @Test func aJobWhoseOnlyRestWasKilledAtTheEndOfTheGraceIsNotComplete() {
        var job = JobSimulation(items: 2, limits: limits) { $0 == 1 ? .hangs : .good }
        job.stop(.timeBudget, at: .seconds(1))
        job.run()
        #expect(job.outcomes == [.stopped(.timeBudget)])
    }

    @Test func aStopBeforeTheStartRunsNothing() {
        var machine = JobMachine(itemCount: 2, limits: limits, lanes: LanePolicy(.cpu, deviceIsUsable: false))
        let actions = machine.stop(.shutdown, at: .zero)
        #expect(
            actions == [
                .settle(item: 0, .unfinished), .settle(item: 1, .unfinished), .finish(.stopped(.shutdown)),
            ])
        let late = machine.start(at: .zero)
        #expect(late.isEmpty)
    }

    @Test func aFailingDeviceHandsItsItemsToTheCPUWhenItIsOnlyPreferred() {
        let lanes = LanePolicy(.preferDevice, deviceIsUsable: true)
        var job = JobSimulation(items: 8, limits: limits, lanes: lanes) { _ in .deviceBreaks }
        job.run()
        #expect(job.outcomes == [.completed(failures: 0)])
        #expect(job.runs.filter { $0.terms.lane == .device }.count <= LanePolicy.maxDeviceFailures + 1)
    }

    @Test("rule 37: a device that fails at everything stops the job that requires it, and no item has failed")
    func aFailingDeviceStopsTheJobThatRequiresIt() {
        let lanes = LanePolicy(.requireDevice, deviceIsUsable: true)
        var job = JobSimulation(items: 8, limits: limits, lanes: lanes) { _ in .deviceBreaks }
        job.run()
        #expect(job.outcomes == [.stopped(.deviceLost)])
        #expect(job.machine.lanes.deviceIsLost)
        #expect(job.settled.count == 8 && job.settled.values.allSatisfy { $0 == [.unfinished] })
        #expect(job.runs.allSatisfy { $0.terms.lane == .device })
    }

    @Test("an item that a required device fails at twice has failed, and stops no other", arguments: [0, 5, 9])
    func anItemThatARequiredDeviceCannotDo(bad: Int) {
        let lanes = LanePolicy(.requireDevice, deviceIsUsable: true)
        var job = JobSimulation(items: 10, limits: limits, lanes: lanes) { $0 == bad ? .deviceBreaks : .good }
        job.run()
        #expect(job.outcomes == [.completed(failures: 1)])
        #expect(job.runs.count { $0.item == bad } == 2)
        #expect(!job.machine.lanes.deviceIsLost)
    }

    @Test("rule 37: an item whose worker crashes or hangs on a preferred device is done on the CPU", arguments: [0, 3])
    func aCrashOnAPreferredDevice(bad: Int) {
        for behaviour in [JobSimulation.Behaviour.crashes(11), .hangs] {
            var seen = 0
            let lanes = LanePolicy(.preferDevice, deviceIsUsable: true)
            var job = JobSimulation(items: 4, limits: limits, lanes: lanes) { item in
                guard item == bad else { return .good }
                seen += 1
                return seen == 1 ? behaviour : .good
            }
            job.run()
            #expect(job.outcomes == [.completed(failures: 0)])
            #expect(job.runs.filter { $0.item == bad }.map(\.terms.lane) == [.device, .cpu])
        }
    }

    /// However items behave and whenever the job is stopped: one settlement for each item, one outcome, nothing handed
    /// out after the stop, never two items on a worker, and nothing beside an item that runs alone.
    @Test(arguments: [false, true]) func nothingIsLostOrSettledTwice(ahead: Bool) {
        for seed in 0..<400 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let count = Int.random(in: 0...40, using: &random)
            let behaviours = (0..<count).map { _ -> JobSimulation.Behaviour in
                switch Int.random(in: 0..<12, using: &random) {
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
            let preferences: [LanePolicy.Preference] = [.cpu, .requireDevice, .preferDevice, .measured]
            let preference = preferences[Int.random(in: 0..<4, using: &random)]
            let limits = JobMachine.Limits(
                workers: Int.random(in: 1...5, using: &random), claimBytes: 1 << 20, handsOutAhead: ahead)
            var job = JobSimulation(
                items: count, limits: limits, lanes: LanePolicy(preference, deviceIsUsable: true),
                behaviour: { behaviours[$0] }, itemTime: { times[$0] })
            let stopTime = Duration.milliseconds(Int.random(in: 0...3000, using: &random))
            let stops = Bool.random(using: &random)
            if stops { job.stop(.userStop, at: stopTime) }
            job.run()

            #expect(job.broken.isEmpty, "seed \(seed): \(job.broken)")
            #expect(job.outcomes.count == 1, "seed \(seed)")
            #expect(job.settled.count == count, "seed \(seed)")
            #expect(job.settled.values.allSatisfy { $0.count == 1 }, "seed \(seed)")
            if case .completed = job.outcomes[0] {
                #expect(!job.settled.values.contains([.unfinished]), "seed \(seed): an item has no result")
            }
            if stops {
                let last = ahead ? stopTime + JobSimulation.latency : stopTime
                #expect(job.runs.allSatisfy { $0.at <= last }, "seed \(seed)")
            } else if preference == .requireDevice, job.outcomes == [.stopped(.deviceLost)] {
                #expect(job.machine.lanes.deviceIsLost, "seed \(seed)")
            } else {
                #expect(!job.settled.values.contains([.unfinished]), "seed \(seed)")
                let failed = job.settled.values.filter { $0 != [.reported] }.count
                guard case .completed(let failures) = job.outcomes[0] else {
                    Issue.record("seed \(seed): not stopped, yet \(job.outcomes)")
                    continue
                }
                #expect(failures >= failed, "seed \(seed)")
            }
        }
    }
}
