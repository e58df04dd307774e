package import SchedulingCore
package import TaskModel

/// A described day: the machine, the programs, what they ask for, and what happens.
package struct DayTrace: Sendable {
    package var title = ""
    /// The wall clock at the beginning.
    package var start: WallTime
    package var length: Duration = .seconds(86_400)
    package var settings = SchedulerSettings()
    package var programs: [ProgramManifest] = []
    package var devices: [ComputeDevice] = []
    /// What happens, in order of time; what is at one time, in order of the file.
    package var entries: [Entry] = []
    /// Seconds since 1970 in which background work may not run.
    package var blockedHours: [Range<Duration>] = []

    package init(start: WallTime) {
        self.start = start
    }

    package struct Entry: Sendable {
        /// Since the start.
        package var at: Duration
        package var happening: Happening

        package init(at: Duration, _ happening: Happening) {
            self.at = at
            self.happening = happening
        }
    }

    package enum Happening: Sendable {
        case request(VirtualRequest)
        case conditions(Conditions)
        case event(DayEvent)
    }
}

/// A request in a described day, with the work that its virtual task does.
package struct VirtualRequest: Hashable, Sendable {
    /// What the task does when it comes to a point of its work.
    package enum Behaviour: Hashable, Sendable {
        case completes
        /// Says at this share of its work that it did not succeed.
        case fails(at: Double)
        /// Goes silent.
        case stalls(at: Double)
        /// Goes on at a tenth of its speed.
        case slows(at: Double)
        /// Its device fails, once.
        case losesDevice(at: Double)
        /// Its process is gone without a word.
        case breaks(at: Double)
        /// Does not end when it is asked to.
        case ignoresExpiration
    }

    package var program: String
    package var request: TaskRequest
    package var behaviour: Behaviour
    /// How long it takes alone with the whole machine.
    package var work: Duration
    /// Time from being asked to end until it has ended.
    package var ends: Duration
    /// Asks again for what is left when conditions, memory or its time end it.
    package var resubmits: Bool

    package init(
        program: String, request: TaskRequest, behaviour: Behaviour = .completes, work: Duration = .seconds(600),
        ends: Duration = .seconds(1), resubmits: Bool = false
    ) {
        self.program = program
        self.request = request
        self.behaviour = behaviour
        self.work = work
        self.ends = ends
        self.resubmits = resubmits
    }
}

/// Something that happens in a described day.
package enum DayEvent: Hashable, Sendable {
    case promote(TaskIdentifier), demote(TaskIdentifier)
    case pause(TaskIdentifier), resume(TaskIdentifier)
    case stop(TaskIdentifier), cancel(TaskIdentifier)
    case simulateLaunch(TaskIdentifier)
    case simulateExpiration(TaskIdentifier, StopReason)
    case hostRemoved(String), hostReturned(String)
    /// nil for all programs.
    case switchOff(String?), switchOn(String?)
    case clockJump(Duration)
    /// Seconds since 1970.
    case blockHours([Range<Duration>])
    case pauseDevice(String), resumeDevice(String)
    /// Whatever runs on it loses it.
    case failDevice(String)
}
