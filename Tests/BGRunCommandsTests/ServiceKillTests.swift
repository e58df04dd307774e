import Foundation
import Glibc
import SeededNumbers
import Testing

/// Exports through the service, with the process of the job, the service or both killed at random moments.
@Suite struct ServiceKillTests {
    /// Kills at random moments until there were this many; `BGRUN_TEST_KILLS=1000` for the long form.
    private static let wanted = ProcessInfo.processInfo.environment["BGRUN_TEST_KILLS"].flatMap { Int($0) }
    private static let kills = wanted ?? 16
    private static let workers = 2

    private enum Victim: CaseIterable {
        case job, service, both
    }

    @Test("rule 73, rule 82, rule 85: whatever of an export is killed, and when, it ends with the same files")
    func whateverIsKilledTheFilesAreTheSame() throws {
        let seed = UInt64.random(in: 0...999_999)
        var random = SeededGenerator(seed: seed)
        let service = try ServicePlace()
        let place = service.place
        try place.putPhotos(from: Photos.large)
        let arguments = [
            "export", "photos", "--size", "400", "--progress", "none", "--workers", "\(Self.workers)", "--out",
        ]
        let clock = ContinuousClock()
        var status: Int32 = 0
        // The first run also starts the service.
        #expect(try service.bgrun("run", "--", "true").status == 0)
        let wholeRun = try clock.measure { status = try service.start(arguments + ["whole"]).end().status }
        #expect(status == 0)
        let span = UInt32(wholeRun / .microseconds(1))
        let whole = try place.contents("whole")

        var tally = Tally()
        var made = MadeFiles(folder: place.path + "/out")
        // Jobs whose result was looked at.
        var looked: Set = [try #require(try service.lastJob())]
        while tally.kills < Self.kills {
            let label = Comment(rawValue: "seed \(seed), kill \(tally.kills)")
            let isAttached = Bool.random(using: &random)
            let active = try service.active()
            var run: CommandRun?
            if let active {
                if isAttached { run = try service.start(["attach", "\(active)", "--progress", "none"]) }
            } else if isAttached {
                run = try service.start(arguments + ["out"])
            } else {
                let ended = try service.start(arguments + ["out", "--detach"]).end()
                #expect(ended.status == 0, "\(label): \(ended.errors)")
            }
            if !isAttached, Bool.random(using: &random), let job = try service.active() {
                // It may just have ended.
                _ = try service.bgrun("fg", "\(job)")
            }
            usleep(UInt32.random(in: 0...span, using: &random))
            let victim = Victim.allCases.randomElement(using: &random) ?? .both
            let found = Self.kill(victim, of: place)
            if found > 0 {
                tally.count(victim)
                // What there is of a long run that is broken off.
                if Self.wanted != nil, tally.kills.isMultiple(of: 10) { print("seed \(seed): \(tally)") }
            }
            let redone = made.look()
            tally.redone += redone
            #expect(redone <= Self.workers, "\(label): only what was in work is done again")
            // Whatever stands under a final name is whole.
            for (name, bytes) in try place.contents("out") where !name.hasPrefix(".") {
                #expect(bytes == whole[name], "\(label): \(name)")
            }
            let closesTerminal = Bool.random(using: &random)
            if closesTerminal { run?.send(SIGKILL) }
            if let run {
                let ended = run.end()
                if ended.wasKilled { tally.closedTerminals += 1 }
                // Too many losses are a failure that is told; the same command goes on. What a terminal asked for
                // just before it closed may have begun meanwhile.
                #expect(
                    ended.wasKilled || ended.status == 0 || ended.errors.contains("workerKilled")
                        || ended.errors.contains("alreadyRunning"),
                    "\(label): \(ended.status) \(ended.errors)")
            }
            // The next command, which starts the service where there is none.
            let id = try #require(try service.lastJob(), label)
            // A terminal may have closed before it asked for anything: then the last job is an earlier one.
            guard !looked.contains(id) else { continue }
            if Bool.random(using: &random) {
                // In the foreground: beside a busy machine the background may take for ever.
                let waited = try service.bgrun("attach", "\(id)", "--progress", "none")
                #expect(waited.status == 0 || waited.status == 70, "\(label): \(waited.errors)")
            }
            let shown = try service.bgrun("show", "\(id)", "--json")
            #expect(shown.status == 0, "\(label): \(shown.errors)")
            guard shown.status == 0 else { continue }
            let job = try shown.json()
            guard (job["outcome"] as? String)?.hasPrefix("completed") == true else { continue }
            looked.insert(id)
            let again = made.look()
            #expect(again <= Self.workers, "\(label): only what was in work is done again")
            tally.redone += again
            tally.ends += 1
            #expect(try place.contents("out") == whole, label)
            #expect(OwnProcesses(of: place).jobs.isEmpty, label)
            #expect(service.comes { OwnProcesses(of: place).workers.isEmpty }, "\(label): nobody is left behind")
            try FileManager.default.removeItem(atPath: place.path + "/out")
            made = MadeFiles(folder: place.path + "/out")
        }
        let ended = try service.start(arguments + ["out"]).end()
        if ended.status != 0 {
            // The last kills may have left it at work.
            let id = try #require(try service.lastJob())
            #expect(
                try service.bgrun("attach", "\(id)", "--progress", "none").status == 0, "seed \(seed): \(ended.errors)")
        }
        #expect(try place.contents("out") == whole, "seed \(seed)")
        #expect(try service.jobs().allSatisfy { $0["state"] as? String == "ended" }, "seed \(seed)")
        let stopped = try service.bgrun("service", "stop")
        #expect(stopped.status == 0, "seed \(seed): \(stopped.errors)")
        #expect(service.comes { OwnProcesses(of: place).all.isEmpty }, "seed \(seed): nobody is left behind")
        if Self.wanted != nil { print("seed \(seed): \(tally)") }
    }

    /// - Returns: How many processes were killed.
    private static func kill(_ victim: Victim, of place: TestPlace) -> Int {
        let processes = OwnProcesses(of: place)
        let victims =
            switch victim {
            case .job: processes.jobs
            case .service: [processes.service].compactMap(\.self)
            case .both: [processes.service].compactMap(\.self) + processes.jobs
            }
        return victims.count { Glibc.kill($0, SIGKILL) == 0 }
    }

    private struct Tally: CustomStringConvertible {
        var jobs = 0
        var services = 0
        var both = 0
        var closedTerminals = 0
        var ends = 0
        var redone = 0

        var kills: Int { jobs + services + both }

        mutating func count(_ victim: Victim) {
            switch victim {
            case .job: jobs += 1
            case .service: services += 1
            case .both: both += 1
            }
        }

        var description: String {
            "\(kills) kills (job \(jobs), service \(services), both \(both)), \(closedTerminals) closed terminals, "
                + "\(ends) exports to the end, \(redone) pictures done again"
        }
    }
}

extension ServicePlace {
    private func allJobs() throws -> [[String: Any]] {
        let ended = try bgrun("jobs", "--all", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        return try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [[String: Any]] ?? []
    }

    /// Number of the job that was submitted last, ended or not.
    fileprivate func lastJob() throws -> Int? { try allJobs().last?["id"] as? Int }

    /// Number of the job that has not come to its end.
    fileprivate func active() throws -> Int? {
        try allJobs().last { $0["state"] as? String != "ended" }?["id"] as? Int
    }
}

/// The files below a folder, told apart from ones that were made anew under the same name.
private struct MadeFiles {
    private struct Identity: Hashable {
        var node: Int?
        var changed: Date?
    }

    private let folder: String
    private var known: [String: Identity] = [:]

    init(folder: String) {
        self.folder = folder
    }

    /// - Returns: How many have been made again since the last look.
    mutating func look() -> Int {
        var again = 0
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? [] {
            guard let values = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name),
                values[.type] as? FileAttributeType == .typeRegular
            else { continue }
            let identity = Identity(
                node: values[.systemFileNumber] as? Int, changed: values[.modificationDate] as? Date)
            if let before = known.updateValue(identity, forKey: name), before != identity { again += 1 }
        }
        return again
    }
}
