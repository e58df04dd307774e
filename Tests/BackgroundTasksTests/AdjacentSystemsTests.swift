import BackgroundTasks
import BackgroundTasksTesting
import Dispatch
import Foundation
import Locking
import Testing

@Suite struct AdjacentSystemsTests {
    private let queue = DispatchQueue(label: "main of the test")

    private func application(_ machine: SimulatedMachine) -> BGApplication {
        BGApplication(scheduler: machine.scheduler, queue: queue)
    }

    private func codes(_ machine: SimulatedMachine) -> [String] { machine.scheduler.diagnostics.map(\.code) }

    // MARK: Background tasks

    @Test("rule 100, A40: a begin that is ended in its handler is balanced, one that is not is reported by name")
    func watchdog() async throws {
        let machine = try photosMachine()
        let application = application(machine)
        let ended = Recorder<Void>()
        let identifier = Lock(BGBackgroundTaskIdentifier.invalid)
        let good = application.beginBackgroundTask(withName: "save") {
            application.endBackgroundTask(identifier.withLock(\.self))
            ended.add(())
        }
        identifier.withLock { $0 = good }
        let forgotten = application.beginBackgroundTask(withName: "forgotten") {}
        #expect(good != .invalid && forgotten != .invalid && good != forgotten)
        #expect(application.backgroundTimeRemaining == .infinity)
        await machine.advance(by: .seconds(3_600))
        #expect(ended.values.isEmpty)
        application.didEnterBackground()
        #expect(application.backgroundTimeRemaining == 30 && application.applicationState == .background)
        await machine.advance(by: .seconds(25))
        #expect(ended.values.count == 1 && application.backgroundTimeRemaining == 5)
        await machine.advance(by: .seconds(5))
        #expect(codes(machine) == ["unbalancedBegin"])
        #expect(machine.scheduler.diagnostics[0].sentence.contains("\"forgotten\""))
        #expect(application.beginBackgroundTask(withName: "late") == .invalid)
        application.willEnterForeground()
        #expect(application.backgroundTimeRemaining == .infinity)
        #expect(application.beginBackgroundTask(withName: "again") != .invalid)
    }

    @Test("rule 100, A40: in strict mode an unbalanced begin traps")
    func strictWatchdog() async {
        await #expect(processExitsWith: .failure) {
            let machine = try photosMachine(isStrict: true)
            let application = BGApplication(scheduler: machine.scheduler, queue: DispatchQueue(label: "main"))
            _ = application.beginBackgroundTask(withName: "forgotten") {}
            application.didEnterBackground()
            await machine.advance(by: .seconds(30))
        }
    }

    @Test("rule 100: an end without its begin is reported")
    func unbalancedEnd() throws {
        let machine = try photosMachine()
        let application = application(machine)
        let identifier = application.beginBackgroundTask()
        application.endBackgroundTask(identifier)
        application.endBackgroundTask(.invalid)
        #expect(codes(machine).isEmpty)
        application.endBackgroundTask(identifier)
        #expect(codes(machine) == ["unbalancedEnd"])
    }

    @Test("A40, A43: with background work switched off a begin is invalid, and the status says so")
    func switchedOff() throws {
        let machine = try photosMachine()
        let application = application(machine)
        #expect(application.backgroundRefreshStatus == .available)
        machine.scheduler.setBackgroundStatus(.denied)
        #expect(application.backgroundRefreshStatus == .denied)
        #expect(application.beginBackgroundTask(withName: "save") == .invalid)
        machine.scheduler.setBackgroundStatus(.restricted)
        #expect(application.backgroundRefreshStatus == .restricted)
    }

    @Test("rule 100: an expiring activity runs beside its expiration, and only expires when there is no time")
    func expiringActivity() async throws {
        let machine = try photosMachine()
        let application = application(machine)
        let seen = Recorder<Bool>()
        let expired = DispatchSemaphore(value: 0)
        let (begun, begin) = AsyncStream<Void>.makeStream()
        application.performExpiringActivity(withReason: "export") { isExpiring in
            seen.add(isExpiring)
            if isExpiring {
                expired.signal()
            } else {
                begin.yield()
                expired.wait()
            }
        }
        for await _ in begun { break }
        application.didEnterBackground()
        machine.clock.advance(by: .seconds(25))
        await machine.settle()
        #expect(seen.values == [false, true])
        await machine.advance(by: .seconds(10))
        #expect(codes(machine).isEmpty)
        application.performExpiringActivity(withReason: "late") { seen.add($0) }
        await machine.settle()
        #expect(seen.values == [false, true, true])
    }

    // MARK: Fetch

    /// Starts of the fetches of some days, whose handler answers with a result after so many seconds.
    private func fetches(
        _ result: BGBackgroundFetchResult, interval: TimeInterval, hours: Int
    ) async throws -> [Date] {
        let machine = try photosMachine(identifiers: ["fetch"])
        let application = application(machine)
        let starts = Recorder<Date>()
        let clock = machine.clock
        application.setPerformFetchHandler { completion in
            starts.add(clock.date)
            completion(result)
        }
        application.setMinimumBackgroundFetchInterval(interval)
        await machine.advance(by: .seconds(hours * 3_600))
        #expect(codes(machine).isEmpty)
        return starts.values
    }

    @Test("rule 100, A42: without an interval nothing is ever fetched")
    func never() async throws {
        #expect(try await fetches(.newData, interval: BGApplication.backgroundFetchIntervalNever, hours: 48).isEmpty)
    }

    @Test("rule 57, A42: fetches keep their interval, useful ones come sooner and useless or failing ones later")
    func shaped() async throws {
        let hourly = try await fetches(.newData, interval: 3_600, hours: 24)
        #expect((23...25).contains(hourly.count))
        #expect(zip(hourly, hourly.dropFirst()).allSatisfy { $1.timeIntervalSince($0) >= 3_600 })
        let useful = try await fetches(.newData, interval: 0, hours: 24).count
        let useless = try await fetches(.noData, interval: 0, hours: 24).count
        let failing = try await fetches(.failed, interval: 0, hours: 24).count
        #expect(useful > useless && useless > failing && failing > 0)
    }

    @Test("A42: a fetch that does not complete in its time counts against the program")
    func slowFetch() async throws {
        let machine = try photosMachine(identifiers: ["fetch"])
        let application = application(machine)
        let starts = Recorder<Void>()
        application.setPerformFetchHandler { _ in starts.add(()) }
        application.setMinimumBackgroundFetchInterval(BGApplication.backgroundFetchIntervalMinimum)
        await machine.advance(by: .seconds(24 * 3_600))
        let quick = try await fetches(.newData, interval: 0, hours: 24).count
        #expect(!starts.values.isEmpty && starts.values.count < quick / 4)
    }

    @Test("A42: without the identifier in the manifest the fetch is refused with what to do")
    func fetchNotPermitted() throws {
        let machine = try photosMachine()
        application(machine).setMinimumBackgroundFetchInterval(0)
        #expect(codes(machine) == ["identifierNotPermitted", "fetchRefused"])
        #expect(machine.scheduler.diagnostics.last?.fix.contains(id("fetch")) == true)
    }

    // MARK: Pokes

    @Test("rule 100, A45: pokes reach the program merged, three an hour, and not while it is switched off")
    func pokes() async throws {
        let machine = try photosMachine()
        let application = application(machine)
        let heard = Recorder<[String: String]>()
        application.setRemoteNotificationHandler { payload, completion in
            heard.add(payload)
            completion(.newData)
        }
        for index in 0..<10 {
            application.poke(["last": "\(index)"])
            await machine.advance(by: .seconds(60))
        }
        #expect(heard.values == [["last": "0"], ["last": "1"], ["last": "2"]])
        await machine.advance(by: .seconds(3_000))
        #expect(heard.values.count == 4 && heard.values.last == ["last": "9"])
        machine.scheduler.setBackgroundEnabled(false)
        application.poke(["last": "x"])
        await machine.advance(by: .seconds(7_200))
        #expect(heard.values.count == 4)
        machine.scheduler.setBackgroundEnabled(true)
        await machine.settle()
        #expect(heard.values.last == ["last": "x"])
    }

    @Test("A45: the handler of a poke that does not complete is noted after 30 s, and the next poke is heard")
    func slowPoke() async throws {
        let machine = try photosMachine()
        let application = application(machine)
        let heard = Recorder<Void>()
        application.setRemoteNotificationHandler { _, _ in heard.add(()) }
        application.poke()
        application.poke()
        await machine.advance(by: .seconds(29))
        #expect(heard.values.count == 1 && codes(machine).isEmpty)
        await machine.advance(by: .seconds(1))
        #expect(heard.values.count == 2 && codes(machine) == ["pokeOverran"])
    }

    // MARK: Activities

    @Test("rule 100, A47: the interval of an activity may be any number")
    func anyInterval() throws {
        let machine = try photosMachine()
        let activity = NSBackgroundActivityScheduler(identifier: id("tidy"), scheduler: machine.scheduler)
        for (seconds, taken) in [(.nan, 0), (.infinity, 1e12), (-1, 0), (60, 60)] as [(Double, Double)] {
            activity.interval = seconds
            activity.tolerance = seconds
            #expect(activity.interval == taken && activity.tolerance == taken)
        }
    }

    @Test("rule 100, A47: an activity is asked to defer when conditions change, and is called again when they are back")
    func deferring() async throws {
        let machine = try photosMachine()
        let activity = NSBackgroundActivityScheduler(identifier: id("tidy"), scheduler: machine.scheduler)
        activity.interval = 3_600
        activity.tolerance = 0
        let completions = Recorder<NSBackgroundActivityScheduler.CompletionHandler>()
        activity.schedule { completions.add($0) }
        await machine.advance(by: .seconds(3_599))
        #expect(completions.values.isEmpty)
        await machine.advance(by: .seconds(1))
        #expect(completions.values.count == 1 && !activity.shouldDefer)
        machine.conditions.change { $0.isIdle = false }
        await machine.settle()
        #expect(activity.shouldDefer)
        completions.values[0](.deferred)
        await machine.advance(by: .seconds(600))
        #expect(completions.values.count == 1 && !activity.shouldDefer)
        machine.conditions.change { $0.isIdle = true }
        await machine.advance(by: .seconds(120))
        #expect(completions.values.count == 2)
        completions.values[1](.finished)
        await machine.advance(by: .seconds(86_400))
        #expect(completions.values.count == 2 && codes(machine).isEmpty)
    }

    @Test("A47: an activity repeats at its interval until it is invalidated")
    func repeating() async throws {
        let machine = try photosMachine()
        let activity = NSBackgroundActivityScheduler(identifier: id("tidy"), scheduler: machine.scheduler)
        activity.interval = 3_600
        activity.repeats = true
        let runs = Recorder<Void>()
        activity.schedule { completion in
            runs.add(())
            completion(.finished)
        }
        await machine.advance(by: .seconds(24 * 3_600))
        #expect((23...25).contains(runs.values.count))
        activity.invalidate()
        let before = runs.values.count
        await machine.advance(by: .seconds(24 * 3_600))
        #expect(runs.values.count == before)
        #expect(codes(machine).isEmpty)
    }

    // MARK: Async form

    @Test(
        "A46, rule 10: the return of a backgroundTask action completes it, and its Swift task is cancelled on timeout")
    func backgroundTask() async throws {
        let machine = try photosMachine()
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let cancelled = Recorder<Bool>()
        machine.scheduler.backgroundTask(.appRefresh(id("refresh"))) {
            begin.yield()
            let (never, _) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            cancelled.add(Task.isCancelled)
        }
        let events = machine.scheduler.events()
        try machine.scheduler.submit(BGAppRefreshTaskRequest(identifier: id("refresh")))
        for await _ in begun { break }
        machine.clock.advance(by: .seconds(30))
        for await event in events {
            guard case .ended(let outcome) = event.kind else { continue }
            #expect(outcome == .stopped(.timeBudget))
            break
        }
        #expect(cancelled.values == [true])
    }
}
