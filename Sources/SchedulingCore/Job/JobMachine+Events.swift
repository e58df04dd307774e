package import TaskModel

extension JobMachine {
    /// What an item may use.
    package struct Terms: Hashable, Sendable {
        package var lane: LanePolicy.Lane
        /// Bytes the item's buffers may take together.
        package var claimBytes: Int
        /// No other item runs beside it.
        package var alone: Bool

        package init(lane: LanePolicy.Lane, claimBytes: Int, alone: Bool) {
            self.lane = lane
            self.claimBytes = claimBytes
            self.alone = alone
        }
    }

    /// What a worker said about its item.
    package enum Verdict: Hashable, Sendable {
        case made(megapixels: Double)
        case failed
        /// It needs more than its share of the memory; nothing was written.
        case needsMemory
        /// The device failed, not the item; nothing was written.
        case deviceFailed
        /// It was given up before its outputs were committed.
        case givenUp
    }

    /// An encoder at work on an item.
    package struct Encode: Hashable, Sendable {
        /// What it takes on a common machine.
        package var expected: Duration
        /// It can be stopped on its way.
        package var hearsStop: Bool

        package init(expected: Duration, hearsStop: Bool) {
            self.expected = expected
            self.hearsStop = hearsStop
        }
    }

    /// An encode that a stop waits for longer than for anything else.
    package struct Wait: Hashable, Sendable {
        /// When it is likely to end, from now.
        package var expected: Duration
        /// When it is killed, from now.
        package var longest: Duration

        package init(expected: Duration, longest: Duration) {
            self.expected = expected
            self.longest = longest
        }
    }

    /// How a worker's process ended.
    package enum Death: Hashable, Sendable {
        case exited(status: Int32)
        case signaled(Int32)
    }

    /// How an item ended.
    package enum Settlement: Hashable, Sendable {
        /// As the worker said.
        case reported
        case crashed(Death)
        /// Nothing was heard of it for so long.
        case hung(after: Duration)
        /// It has no result and is left to a later run.
        case unfinished
    }

    package enum Action: Hashable, Sendable {
        /// Hand the item to that worker; start a process first where there is none.
        case run(item: Int, worker: Int, Terms)
        /// Hand the item to that worker beside the one that it has: it begins it by itself when that one has ended.
        case runAfter(item: Int, worker: Int, Terms)
        /// That worker is at the item that it got ahead.
        case began(item: Int, worker: Int)
        /// Take the item back that was handed out ahead, and tell when that was done; it may have begun.
        case withdraw(worker: Int)
        /// Have that worker come to a halt between two chunks of its item, and tell when it has.
        case halt(worker: Int)
        /// Let a worker go on that was to halt.
        case goOn(worker: Int)
        /// Have that worker give up its item at the next chunk, unless the item is all but done.
        case giveUp(worker: Int)
        /// Kill that worker's process and tell when it is gone.
        case kill(worker: Int)
        case settle(item: Int, Settlement)
        /// Answers ``JobMachine/pause(at:)``: every item in flight stands still.
        case paused
        /// Comes once, after everything else.
        case finish(TaskOutcome)
    }

    package struct Limits: Sendable {
        package var workers: Int
        /// Bytes that all items in flight may take together.
        package var claimBytes: Int
        /// Longest silence of an item.
        package var hang: Duration
        /// Time for items in flight after a stop (rule 71).
        package var grace: Duration
        /// Workers get the next item while they are at one.
        package var handsOutAhead: Bool
        /// As many times that for one encode of each worker that is to end within it.
        package static let encodeGraces = 6

        package init(
            workers: Int, claimBytes: Int, hang: Duration = .seconds(60), grace: Duration = .seconds(5),
            handsOutAhead: Bool = false
        ) {
            precondition(workers > 0, "a job without workers would never end")
            self.workers = workers
            self.claimBytes = claimBytes
            self.hang = hang
            self.grace = grace
            self.handsOutAhead = handsOutAhead
        }

        package var shareBytes: Int { claimBytes / workers }
    }
}
