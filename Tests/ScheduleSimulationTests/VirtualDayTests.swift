import ScheduleSimulation
import SchedulingCore
import TaskModel
import Testing

@Suite struct VirtualDayTests {
    private static let app = "org.example.app"

    private func play(_ rest: String, length: String = "4h") throws -> Timeline {
        VirtualDay.timeline(of: try Days.day(rest, length: length))
    }

    private func request(_ name: String, _ kind: String, at: String, _ rest: String = "") -> String {
        "- {at: \(at), identifier: \(Self.app).\(name), kind: \(kind)\(rest.isEmpty ? "" : ", ")\(rest)}"
    }

    @Test("rule 99: two days with hundreds of requests and a change each minute are played to their end")
    func twoDays() throws {
        let powers = ["external", "battery"]
        let changes = (0..<2_880).map { minute in
            "  - {at: +\(minute)m, cpuPressure: \(minute * 37 % 100), power: \(powers[minute / 90 % 2]), userIdle: \(minute / 200 % 2 == 0)}"
        }
        let requests = (0..<300).map { number in
            "  - {at: +\(number * 9)m, identifier: org.p\(number % 30).job\(number % 7), kind: "
                + (number.isMultiple(of: 3) ? "processing" : "continued") + ", work: \(number % 40 + 1)m}"
        }
        let programs = (0..<30).map { number in
            let names = (0..<7).map { "org.p\(number).job\($0)" }.joined(separator: ", ")
            return "  - {program: org.p\(number), modes: [processing, continued], identifiers: [\(names)]}"
        }
        let text =
            "start: 2026-03-02T08:00Z\nlength: 48h\nsettings: {slots: 4, cores: 8}\nprograms:\n"
            + programs.joined(separator: "\n") + "\nconditions:\n" + changes.joined(separator: "\n") + "\nrequests:\n"
            + requests.joined(separator: "\n") + "\n"
        let day = try Days.parse(text)
        let timeline = VirtualDay.timeline(of: day)
        #expect(timeline.counts.conditionChanges == 2_880)
        #expect(timeline.counts.requests == 300)
        #expect(timeline.jobs.count + timeline.rejections.count == 300)
        #expect(timeline.length == .seconds(172_800))
        #expect(timeline.jobs.filter { $0.outcome?.isCompleted == true }.count > 200)
        #expect(VirtualDay.timeline(of: day) == timeline)
    }

    @Test("rule 95: no wait of a played day is without a reason, and no work has one")
    func reasons() throws {
        let timeline = VirtualDay.timeline(of: try Days.read("laptop.yml"))
        #expect(timeline.jobs.count > 30)
        for job in timeline.jobs {
            for span in job.spans {
                switch span.state {
                case .waiting, .paused: #expect(!span.reasons.isEmpty, "\(job.identifier) \(span)")
                case .background, .foreground, .expiring: #expect(span.reasons.isEmpty, "\(job.identifier) \(span)")
                case .pausing: break
                }
            }
            for (span, next) in zip(job.spans, job.spans.dropFirst()) { #expect(span.to == next.from) }
        }
    }

    @Test("rule 95: time per reason is that of the scheduler's own history")
    func timePerReason() throws {
        var day = VirtualDay(
            try Days.day(
                """
                conditions: [{userIdle: no, power: battery}, {at: 09:00, power: external}, {at: 10:00, userIdle: yes}]
                requests:
                  \(request("index", "processing", at: "08:30", "needs: power"))
                """))
        day.play(until: .seconds(6_000))
        let id = try #require(day.job(TaskIdentifier("\(Self.app).index")))
        let told = day.scheduler.timePerReason(id)
        let seen = try day.timeline.job("index").waits
        #expect(told.map(\.code) == seen.map(\.code))
        #expect(told.map(\.time) == seen.map(\.time))
        #expect(told.map(\.time) == [.seconds(4_200), .seconds(1_800)])
    }

    @Test("rule 56: processing waits for an idle machine and ends when its person returns")
    func processingIsForIdleMachines() throws {
        let timeline = try play(
            """
            conditions: [{userIdle: no}, {at: 09:00, userIdle: yes}, {at: 09:30, userIdle: no}]
            requests:
              \(request("index", "processing", at: "08:10", "work: 2h"))
              \(request("clean", "processing", at: "09:31", "work: 10m, idle: no"))
            """)
        let job = try timeline.job("index")
        #expect(job.spans.map(\.state) == [.waiting, .background, .expiring])
        #expect(job.spans[0].to == .seconds(3_600))
        #expect(job.outcome == .stopped(.conditionLost(.idle)))
        #expect(try timeline.job("clean").outcome == .completed(failures: 0))
    }

    @Test("rule 52: what lost its condition and asks again goes on with what is left")
    func resubmits() throws {
        let timeline = try play(
            """
            conditions: [{userIdle: yes}, {at: 08:30, userIdle: no}, {at: 09:00, userIdle: yes}]
            requests:
              \(request("index", "processing", at: "08:00", "work: 40m, resubmits: yes"))
            """)
        let (first, second) = try (timeline.job("index", 0), timeline.job("index", 1))
        #expect(first.outcome == .stopped(.conditionLost(.idle)))
        #expect(second.outcome == .completed(failures: 0))
        #expect(second.worked < .seconds(601) && second.worked > .seconds(599))
    }

    @Test("rule 51: background work ends when quiet hours begin and goes on after them, though tasks report just then")
    func quietHours() throws {
        let timeline = try play(
            """
            quietHours: 09:00-10:00
            requests:
              \(request("index", "processing", at: "08:00", "work: 90m, resubmits: yes"))
            """)
        let (first, second) = try (timeline.job("index", 0), timeline.job("index", 1))
        #expect(first.spans.last?.from == .seconds(3_600))
        #expect(first.outcome == .stopped(.conditionLost(.allowedHours)))
        #expect(second.spans.map(\.state) == [.waiting, .background])
        #expect(second.spans[0].to == .seconds(7_200))
        #expect(timeline.conditions.map(\.kind) == [.allowedHours])
    }

    @Test("rule 51: the next allowed time is told")
    func nextAllowedTime() throws {
        var day = VirtualDay(
            try Days.day(
                """
                quietHours: 09:00-10:00
                requests:
                  \(request("index", "processing", at: "09:10"))
                """))
        day.play(until: .seconds(4_800))
        let id = try #require(day.job(TaskIdentifier("\(Self.app).index")))
        let reasons = day.scheduler.why(id)
        #expect(reasons.map(\.code) == [.condition(.allowedHours)])
        #expect(day.scheduler.earliestStart(reasons) == .seconds(7_200))
    }

    @Test("rule 58: processing that has waited for two days is noted as overdue, with the time for each reason")
    func overdue() throws {
        let timeline = try play(
            """
            conditions: [{userIdle: no}]
            requests:
              \(request("index", "processing", at: "08:00"))
            """, length: "72h")
        let note = try #require(timeline.notes.first { $0.code == "overdue" })
        #expect(note.at == .seconds(172_800))
        #expect(note.sentence.contains("condition.idle 2 d"))
    }

    @Test("Work takes as long as its share of the machine lets it")
    func effort() throws {
        let timeline = try play(
            """
            conditions: [{}, {at: 08:00, thermal: serious}]
            requests:
              \(request("job.a", "continued", at: "08:00", "work: 10m"))
            """.replacing("{}, ", with: ""))
        // In the foreground of a hot machine half of the time.
        #expect(abs((try timeline.job("job.a").worked - .seconds(1_200)) / .seconds(1)) < 1)
    }

    @Test("Two tasks share the machine, and each of them has it alone before and after")
    func sharing() throws {
        let timeline = try play(
            """
            requests:
              \(request("job.a", "continued", at: "08:00", "work: 10m"))
              \(request("job.b", "continued", at: "08:05", "work: 10m"))
            """.replacing("requests", with: "requests"), length: "2h")
        // One slot: the second waits for the first, which is in the foreground too.
        #expect(abs((try timeline.job("job.b").waited - .seconds(300)) / .seconds(1)) < 1)
    }

    @Test("rule 61: a task that goes silent is warned, then stalled, with the measured silence")
    func stall() throws {
        let timeline = try play(
            """
            requests:
              \(request("job.a", "continued", at: "08:00", "work: 10m, priority: background, behaviour: {stalls: 40%}"))
            """)
        #expect(timeline.notes.map(\.code) == ["stallWarning", "stalled", "expired"])
        #expect(try timeline.job("job.a").outcome == .stopped(.stalled))
    }

    @Test("rule 73: a task that ignores its expiration is killed when the grace ends")
    func ignoresExpiration() throws {
        let timeline = try play(
            """
            requests:
              \(request("job.a", "continued", at: "08:00", "work: 1h, behaviour: ignoresExpiration"))
            events:
              - {at: 08:10, stop: org.example.app.job.a}
            """)
        let job = try timeline.job("job.a")
        #expect(job.outcome == .stopped(.userStop))
        #expect(job.ended == .seconds(605))
        #expect(timeline.notes.map(\.code) == ["expired", "killed"])
    }

    @Test("rule 37: work that requires its lost device tries again after a wait and completes")
    func lostDevice() throws {
        let timeline = try play(
            """
            devices: [{id: gpu0, memory: 4 GiB}]
            requests:
              \(request("job.a", "continued", at: "08:00", "work: 10m, needs: gpu, behaviour: {losesDevice: 50%}"))
              \(request("job.b", "continued", at: "09:00", "work: 10m, prefers: gpu, behaviour: {losesDevice: 50%}"))
            """)
        let required = try timeline.job("job.a")
        #expect(required.launches == 2)
        #expect(required.outcome == .completed(failures: 0))
        #expect(required.waits.map(\.code) == [.backoff])
        let preferred = try timeline.job("job.b")
        #expect(preferred.spans.map(\.device) == ["gpu0", nil])
        #expect(preferred.outcome == .completed(failures: 0))
    }

    @Test("rule 20: a request for a GPU that the described machine lacks is rejected and never waits")
    func noDevice() throws {
        let timeline = try play("requests:\n  \(request("job.a", "continued", at: "08:00", "needs: gpu"))")
        #expect(timeline.jobs.isEmpty)
        #expect(timeline.rejections.first?.rejection.first.detail == "noDevice")
    }

    @Test("rule 79: a removed host drops what it queued as continued work, and the rest waits for its return")
    func hostRemoved() throws {
        let timeline = try play(
            """
            requests:
              \(request("job.a", "continued", at: "08:00", "work: 2h"))
              \(request("job.b", "continued", at: "08:05"))
              \(request("index", "processing", at: "08:05"))
            events:
              - {at: 08:10, hostRemoved: org.example.app}
              - {at: 09:00, hostReturned: org.example.app}
            """)
        #expect(try timeline.job("job.a").outcome == .stopped(.hostRemoved))
        #expect(try timeline.job("job.b").outcome == .stopped(.hostRemoved))
        let index = try timeline.job("index")
        #expect(index.outcome == .completed(failures: 0))
        #expect(index.waits.contains { $0.code == .hostAbsent && $0.time == .seconds(3_000) })
    }

    @Test("rule 99: launches and expirations can be simulated, and the clock set")
    func simulated() throws {
        let timeline = try play(
            """
            conditions: [{userIdle: no}]
            requests:
              \(request("index", "processing", at: "08:00", "work: 1h"))
              \(request("clean", "processing", at: "08:00", "floor: 11:00, work: 1m, idle: no"))
            events:
              - {at: 08:10, simulateLaunch: org.example.app.index}
              - {at: 08:20, simulateExpiration: org.example.app.index, reason: sleep}
              - {at: 08:30, clockJump: +3h}
              - {at: 08:40, promote: org.example.app.job.none}
            """)
        let index = try timeline.job("index")
        #expect(index.spans.map(\.from) == [.zero, .seconds(600), .seconds(1_200)])
        #expect(index.outcome == .stopped(.sleep))
        #expect(try timeline.job("clean").spans.first?.to == .seconds(1_800))
        #expect(timeline.notes.contains { $0.code == "nothingThere" })
    }

    @Test("rule 22: what is switched off is refused, and what waits goes on waiting for it")
    func switchedOff() throws {
        let timeline = try play(
            """
            conditions: [{userIdle: no}]
            requests:
              \(request("index", "processing", at: "08:00", "work: 1m"))
              \(request("clean", "processing", at: "08:20"))
            events: [{at: 08:10, switchOff: all}, {at: 09:00, switchOn: all}]
            """)
        #expect(timeline.rejections.map(\.rejection.code) == [.unavailable])
        #expect(
            try timeline.job("index").waits.contains { $0.code == .backgroundSwitchedOff && $0.time == .seconds(3_000) }
        )
    }

    @Test("Playing in two pieces gives the timeline of playing at once")
    func pieces() throws {
        let trace = try Days.read("laptop.yml")
        var day = VirtualDay(trace)
        for hour in 1...24 { day.play(until: .seconds(hour * 3_600)) }
        let whole = VirtualDay.timeline(of: trace)
        #expect(day.timeline.jobs.map(\.outcome) == whole.jobs.map(\.outcome))
        #expect(day.timeline.counts.launches == whole.counts.launches)
    }
}
