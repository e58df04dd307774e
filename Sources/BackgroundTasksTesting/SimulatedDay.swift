public import BackgroundTasks
import DescribedFile
public import Foundation
import ScheduleSimulation
import SchedulingCore
import TaskModel

/// A described day, or several: a machine, programs, what they ask for and what happens, played through the real
/// scheduler with tasks that only pretend to work.
///
/// ```swift
/// var day = SimulatedDay(length: .seconds(48 * 3_600))
/// try day.addProgram("org.example.mail", modes: [.refresh], permittedIdentifiers: ["org.example.mail.fetch"])
/// day.set(.calm, at: .zero)
/// day.submit(BGAppRefreshTaskRequest(identifier: "org.example.mail.fetch"), at: .zero, work: .seconds(12), every: .seconds(3_600))
/// let timeline = day.play()
/// ```
///
/// ``init(contentsOf:)`` reads the files that `bgrun simulate --trace` plays. To have real launch handlers called, use a
/// ``SimulatedMachine``.
public struct SimulatedDay: Sendable {
    /// What a task does when it comes to a share of its work, 0 ... 1.
    public enum Behaviour: Hashable, Sendable {
        case completes
        /// Says that it did not succeed.
        case fails(at: Double)
        /// Goes silent.
        case stalls(at: Double)
        /// Goes on at a tenth of its speed.
        case slows(at: Double)
        /// Its device fails, once.
        case losesDevice(at: Double)
        /// Its process is gone without a word.
        case crashes(at: Double)
        /// Does not end when it is asked to.
        case ignoresExpiration
    }

    /// Something that happens; a task is named by its identifier.
    public enum Event: Hashable, Sendable {
        case promote(String), demote(String), pause(String), resume(String), stop(String), cancel(String)
        case simulateLaunch(String)
        case simulateExpiration(String, BGStopReason)
        /// The program is gone, and is back.
        case hostRemoved(String), hostReturned(String)
        /// Its person switches background work of a program off, and on.
        case switchOff(program: String), switchOn(program: String)
        /// The wall clock is set, forward or back.
        case clockJump(Duration)
        case pauseDevice(String), resumeDevice(String)
        /// Whatever runs on it loses it.
        case loseDevice(String)
    }

    private var day: DayTrace

    /// - Parameters:
    ///   - date: Of its beginning.
    ///   - length: How much is played.
    public init(startingAt date: Date = ManualClock.standardStart, length: Duration = .seconds(86_400)) {
        day = DayTrace(start: WallTime(sinceEpoch: .seconds(date.timeIntervalSince1970)))
        day.length = length
    }

    /// The day that a file describes in YAML or JSON.
    ///
    /// - Parameter path: As for `bgrun simulate --trace`.
    /// - Throws: ``TraceError`` with every mistake in the file.
    public init(contentsOf path: String) throws(TraceError) {
        do throws(FileMistakes) {
            day = try DayTraceReader.read(path: path)
        } catch {
            throw TraceError(error)
        }
    }

    /// The day that a text describes in YAML or JSON.
    ///
    /// - Parameters:
    ///   - text: As in a file for `bgrun simulate --trace`.
    ///   - file: What errors call it.
    /// - Throws: ``TraceError`` with every mistake in the text.
    public init(parsing text: String, file: String = "day") throws(TraceError) {
        do throws(FileMistakes) {
            day = try DayTraceReader.read(DescribedFile.parse(text, file: file))
        } catch {
            throw TraceError(error)
        }
    }

    /// How much is played.
    public var length: Duration {
        get { day.length }
        set { day.length = newValue }
    }

    /// Tasks that run on the CPU at once.
    public var slots: Int {
        get { day.settings.cpuSlots }
        set { day.settings.cpuSlots = newValue }
    }

    /// Processor cores of the machine.
    public var cores: Int {
        get { day.settings.cores }
        set { day.settings.cores = newValue }
    }

    /// Adds a program, as its manifest would describe it.
    ///
    /// - Parameters:
    ///   - program: Reverse-DNS name that every identifier starts with.
    ///   - modes: Kinds of work that it asks for.
    ///   - permittedIdentifiers: Identifiers, and for continued work prefixes with `.*` at their end.
    ///   - grants: What it may use beyond that.
    /// - Throws: ``ManifestError`` with every mistake.
    public mutating func addProgram(
        _ program: String, modes: Set<BGTaskScheduler.Mode>, permittedIdentifiers: [String],
        grants: BGTaskScheduler.Grants = []
    ) throws(ManifestError) {
        day.programs.append(
            try Manifest(program: program, modes: modes, permittedIdentifiers: permittedIdentifiers, grants: grants)
                .program)
    }

    /// Gives the machine a GPU.
    public mutating func add(_ gpu: SimulatedGPU) {
        day.devices.append(ComputeDevice(id: gpu.name, name: gpu.name, memoryBytes: gpu.memoryBytes))
    }

    /// Conditions are these from a moment on; before the first one, nothing is known.
    ///
    /// - Parameters:
    ///   - conditions: All of them.
    ///   - time: Since the beginning.
    public mutating func set(_ conditions: SimulatedConditions, at time: Duration) {
        day.entries.append(.init(at: time, .conditions(conditions.value)))
    }

    /// Conditions are those of a trace.
    ///
    /// - Parameters:
    ///   - trace: Its own date does not matter.
    ///   - time: Of its beginning, since that of the day.
    public mutating func play(_ trace: ConditionsTrace, at time: Duration = .zero) {
        for change in trace.changes { set(change.conditions, at: time + change.at) }
    }

    /// A program submits a request.
    ///
    /// - Parameters:
    ///   - request: Of the program whose name its identifier begins with; is copied.
    ///   - time: Since the beginning.
    ///   - work: How long it takes alone with the whole machine.
    ///   - interval: Submits it again each time that so much has passed.
    ///   - behaviour: What its task does.
    ///   - resubmits: Asks again for what is left when conditions, memory or its time end it.
    public mutating func submit(
        _ request: BGTaskRequest, at time: Duration, work: Duration, every interval: Duration? = nil,
        behaviour: Behaviour = .completes, resubmits: Bool = false
    ) {
        precondition(interval.map { $0 >= .seconds(1) } ?? true, "requests are repeated once a second at most")
        var value = RequestValue(request).task
        value.expectedWork = work
        let program = day.programs.map(\.program).filter { value.identifier.rawValue.hasPrefix($0 + ".") }
            .max { $0.count < $1.count }
        let virtual = VirtualRequest(
            program: program ?? "", request: value, behaviour: .init(behaviour), work: work, resubmits: resubmits)
        var next = time
        while next < day.length {
            day.entries.append(.init(at: next, .request(virtual)))
            guard let interval else { break }
            next += interval
        }
    }

    /// Something happens.
    ///
    /// - Parameters:
    ///   - event: What.
    ///   - time: Since the beginning.
    public mutating func add(_ event: Event, at time: Duration) {
        day.entries.append(.init(at: time, .event(DayEvent(event))))
    }

    /// Plays the day. No clock is looked at: the same day always gives the same timeline, and 48 hours take well under a
    /// second.
    public func play() -> ScheduleTimeline {
        var sorted = day
        sorted.entries = day.entries.enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }.map(\.element)
        return ScheduleTimeline(VirtualDay.timeline(of: sorted))
    }
}

extension VirtualRequest.Behaviour {
    fileprivate init(_ behaviour: SimulatedDay.Behaviour) {
        switch behaviour {
        case .completes: self = .completes
        case .fails(let share): self = .fails(at: share)
        case .stalls(let share): self = .stalls(at: share)
        case .slows(let share): self = .slows(at: share)
        case .losesDevice(let share): self = .losesDevice(at: share)
        case .crashes(let share): self = .breaks(at: share)
        case .ignoresExpiration: self = .ignoresExpiration
        }
    }
}

extension DayEvent {
    fileprivate init(_ event: SimulatedDay.Event) {
        switch event {
        case .promote(let task): self = .promote(TaskIdentifier(task))
        case .demote(let task): self = .demote(TaskIdentifier(task))
        case .pause(let task): self = .pause(TaskIdentifier(task))
        case .resume(let task): self = .resume(TaskIdentifier(task))
        case .stop(let task): self = .stop(TaskIdentifier(task))
        case .cancel(let task): self = .cancel(TaskIdentifier(task))
        case .simulateLaunch(let task): self = .simulateLaunch(TaskIdentifier(task))
        case .simulateExpiration(let task, let reason): self = .simulateExpiration(TaskIdentifier(task), reason.value)
        case .hostRemoved(let program): self = .hostRemoved(program)
        case .hostReturned(let program): self = .hostReturned(program)
        case .switchOff(let program): self = .switchOff(program)
        case .switchOn(let program): self = .switchOn(program)
        case .clockJump(let jump): self = .clockJump(jump)
        case .pauseDevice(let device): self = .pauseDevice(device)
        case .resumeDevice(let device): self = .resumeDevice(device)
        case .loseDevice(let device): self = .failDevice(device)
        }
    }
}
