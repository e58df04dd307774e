import Foundation
import GRDB
import Glibc
import TaskModel
import TaskStore
import TemporaryFolders
import Testing

@Suite struct TaskStoreTests {
    private let folder: TemporaryFolder
    private let request = TaskRequest(
        identifier: TaskIdentifier("bgrun.export.a"), kind: .continued, title: "Export")

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(program: String = "1") throws -> TaskStore {
        try TaskStore(folder: folder.path, program: program)
    }

    private func planned(_ name: String, foreign: FileIdentity? = nil) -> PlannedOutput {
        PlannedOutput(
            path: "/out/\(name).jpg", input: "/in/\(name).tif", inputIdentity: FileIdentity(size: 10, modified: 20),
            settings: "{\"size\":\(name.count)}", foreign: foreign)
    }

    private func made(_ name: String, status: String = "good") -> ItemRecord {
        ItemRecord(
            input: "/in/\(name).tif", inputChecksum: "c0ffee", status: status, code: "", reason: "why",
            outputs: [
                MadeOutput(
                    path: "/out/\(name).jpg", identity: FileIdentity(size: 5, modified: 6), width: 2, height: 3,
                    checksum: "beef")
            ])
    }

    @Test func aPlannedOutputIsKnownButNotMade() throws {
        let store = try open()
        let job = try store.begin(request, requestText: "{}", now: 1)
        let foreign = FileIdentity(size: 1, modified: 2)
        try store.plan([planned("a", foreign: foreign)], of: job)
        let known = try #require(try store.known(["/out/a.jpg", "/out/b.jpg"])["/out/a.jpg"])
        #expect(known.made == nil)
        #expect(!known.wrote(foreign), "the file that stood there before")
        #expect(known.wrote(FileIdentity(size: 3, modified: 4)), "made, and killed before it was recorded")
        #expect(try store.known(["/out/b.jpg"]).isEmpty)
    }

    @Test func aMadeOutputSurvivesReopening() throws {
        do {
            let store = try open(program: "7")
            let job = try store.begin(request, requestText: "{}", now: 1)
            try store.plan([planned("a")], of: job)
            try store.record([made("a", status: "damaged")], of: job)
        }
        let known = try #require(try open().known(["/out/a.jpg"])["/out/a.jpg"])
        let made = try #require(known.made)
        #expect(made.output.checksum == "beef")
        #expect(made.output.identity == FileIdentity(size: 5, modified: 6))
        #expect(made.output.width == 2 && made.output.height == 3)
        #expect(made.input == "/in/a.tif" && made.inputIdentity == FileIdentity(size: 10, modified: 20))
        #expect(made.inputChecksum == "c0ffee" && made.settings == "{\"size\":1}")
        #expect(made.status == "damaged" && made.reason == "why" && made.program == "7")
        #expect(known.intent == nil)
        #expect(known.wrote(made.output.identity) && !known.wrote(FileIdentity(size: 5, modified: 7)))
    }

    @Test func thePicturesBelowAFolderAreKnownWithTheCommandsOfTheirJobs() throws {
        let store = try open()
        let job = try store.begin(request, requestText: "{}", command: "first", now: 1)
        try store.plan([planned("b"), planned("a"), planned("sub/c"), planned("a.d")], of: job)
        for name in ["b", "a", "sub/c"] { try store.record([made(name)], of: job) }
        #expect(try store.pictures(below: "/out").map(\.output.path) == ["/out/a.jpg", "/out/b.jpg", "/out/sub/c.jpg"])
        #expect(try store.pictures(below: "/out/sub").map(\.output.path) == ["/out/sub/c.jpg"])
        #expect(try store.pictures(below: "/").count == 3)
        #expect(try store.pictures(below: "/ou").isEmpty && store.pictures(below: "/out/s").isEmpty)
        #expect(try store.knowsOutputs(below: "/out") && store.knowsOutputs(below: "/out/sub"))
        #expect(try store.knowsOutputs(below: "/"), "also of what was only planned")
        #expect(try !store.knowsOutputs(below: "/ou") && !store.knowsOutputs(below: "/out/a.jpg"))
        #expect(try store.commands(of: [job.id, job.id + 1]) == [job.id: "first"])
        _ = try store.begin(request, requestText: "{}", command: "second", now: 2)
        #expect(try store.commands(of: [job.id]) == [job.id: "second"])
    }

    @Test func planningAnewKeepsWhatWasMade() throws {
        let store = try open()
        let job = try store.begin(request, requestText: "{}", now: 1)
        try store.plan([planned("a")], of: job)
        try store.record([made("a")], of: job)
        try store.plan([planned("a")], of: job)
        let known = try #require(try store.known(["/out/a.jpg"])["/out/a.jpg"])
        #expect(known.made != nil && known.intent != nil)
    }

    @Test func whatAStoppedJobHadPlannedIsNoLongerClaimed() throws {
        let store = try open()
        let job = try store.begin(request, requestText: "{}", now: 1)
        try store.plan([planned("a"), planned("b")], of: job)
        try store.record([made("a")], of: job)
        try store.end(job, .stopped(.userStop), now: 2)
        let known = try store.known(["/out/a.jpg", "/out/b.jpg"])
        #expect(known["/out/a.jpg"]?.made != nil)
        #expect(known["/out/b.jpg"] == nil)
    }

    /// A worker that was killed between the naming of its file and its report.
    @Test func aFileThatAppearedIsStillClaimedWhenItsJobHasEnded() throws {
        func file(_ name: String) throws -> (path: String, identity: FileIdentity) {
            let path = folder.path + "/" + name
            try Data(name.utf8).write(to: URL(fileURLWithPath: path))
            var status = stat()
            try #require(stat(path, &status) == 0)
            return (path, FileIdentity(status))
        }
        func planned(_ path: String, foreign: FileIdentity? = nil) -> PlannedOutput {
            PlannedOutput(
                path: path, input: "/in/a.tif", inputIdentity: FileIdentity(size: 1, modified: 2), settings: "{}",
                foreign: foreign)
        }
        let store = try open()
        let job = try store.begin(request, requestText: "{}", now: 1)
        let (new, old, ours) = (try file("new"), try file("old"), try file("ours"))
        try store.plan([planned(ours.path)], of: job)
        let record = ItemRecord(
            input: "/in/a.tif", inputChecksum: "", status: "good", code: "", reason: "",
            outputs: [.init(path: ours.path, identity: ours.identity, width: 1, height: 1, checksum: "")])
        try store.record([record], of: job)
        try store.plan([planned(new.path), planned(old.path, foreign: old.identity), planned(ours.path)], of: job)
        try store.end(job, .stopped(.userStop), now: 2)
        let known = try store.known([new.path, old.path, ours.path])
        #expect(known[PathKey(new.path)]?.wrote(new.identity) == true)
        #expect(known[PathKey(old.path)] == nil, "it stood there before")
        #expect(known[PathKey(ours.path)]?.intent == nil, "it is recorded")
    }

    @Test func aRecordOfAnotherJobDoesNotTouchAnOutput() throws {
        let store = try open()
        let job = try store.begin(request, requestText: "{}", now: 1)
        let other = try store.begin(
            TaskRequest(
                identifier: TaskIdentifier("bgrun.export.b"), kind: .continued, title: ""),
            requestText: "{}", now: 1)
        try store.plan([planned("a")], of: job)
        try store.record([made("a")], of: other)
        #expect(try store.known(["/out/a.jpg"])["/out/a.jpg"]?.made == nil)
    }

    @Test func aJobThatWasKilledOrStoppedGoesOnAndACompletedOneBeginsAnew() throws {
        let store = try open()
        #expect(try store.lookUp(request.identifier) == nil)
        let first = try store.begin(request, requestText: "{}", now: 1)
        #expect(first.run == 1 && !first.continues)
        let afterKill = try store.begin(request, requestText: "{}", now: 2)
        #expect(afterKill.id == first.id && afterKill.run == 1 && afterKill.continues)
        try store.end(afterKill, .stopped(.userStop), now: 3)
        #expect(try store.lookUp(request.identifier)?.continues == true)
        let afterStop = try store.begin(request, requestText: "{}", now: 4)
        #expect(afterStop.run == 1 && afterStop.continues)
        try store.end(afterStop, .completed(failures: 2), now: 5)
        let anew = try store.begin(request, requestText: "{}", now: 6)
        #expect(anew.id == first.id && anew.run == 2 && !anew.continues)
    }

    @Test func theRatesOfEarlierJobsAreARange() throws {
        let store = try open()
        let export = TaskIdentifier("bgrun.export.9")
        #expect(try store.rates(ofJobsLike: export) == nil)
        let jobs = [("export", 2.0), ("export", 4.0), ("export", 0.1), ("verify", 1.0)]
        for (index, (kind, seconds)) in jobs.enumerated() {
            let request = TaskRequest(identifier: TaskIdentifier("bgrun.\(kind).\(index)"), kind: .continued)
            let job = try store.begin(request, requestText: "{}", now: 1)
            try store.end(job, .completed(failures: 0), work: (100, seconds), now: Double(index))
        }
        #expect(
            try store.rates(ofJobsLike: export) == 25...50,
            "a job that was over at once says nothing, and neither does another kind")
    }

    @Test func thousandsOfPathsAreLookedUpAtOnce() throws {
        let store = try open()
        let job = try store.begin(request, requestText: "{}", now: 1)
        let names = (0..<2_345).map(String.init)
        try store.plan(names.map { planned($0) }, of: job)
        #expect(try store.known(names.map { "/out/\($0).jpg" }).count == names.count)
    }

    @Test func twoProcessesMayWriteAtOnce() async throws {
        let stores = [try open(), try open()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    let request = TaskRequest(
                        identifier: TaskIdentifier("bgrun.export.\(index)"), kind: .continued)
                    let job = try store.begin(request, requestText: "{}", now: 1)
                    for number in 0..<50 {
                        let name = "\(index)-\(number)"
                        try store.plan([planned(name)], of: job)
                        try store.record([made(name)], of: job)
                    }
                }
            }
            try await group.waitForAll()
        }
        let paths = (0..<2).flatMap { index in (0..<50).map { "/out/\(index)-\($0).jpg" } }
        #expect(try stores[0].known(paths).values.filter { $0.made != nil }.count == 100)
    }

    @Test func aFileThatIsNoJournalIsNamedAndLeftAlone() throws {
        let path = folder.path + "/tasks.sqlite"
        let text = Data(String(repeating: "this is no database. ", count: 100).utf8)
        try text.write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) { try self.open() }
        #expect(error?.code == .damaged)
        #expect(error?.sentence.contains(path) == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == text)
    }

    @Test func aJournalOfANewerVersionIsRefusedAndKept() throws {
        _ = try open()
        let queue = try DatabaseQueue(path: folder.path + "/tasks.sqlite")
        try queue.write { db in
            try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99 of the future')")
        }
        let error = #expect(throws: StoreError.self) { try self.open() }
        #expect(error?.code == .newerVersion)
        let count = try queue.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM grdb_migrations WHERE identifier LIKE '99%'")
        }
        #expect(count == 1)
    }

    @Test func aDamagedPageIsAnErrorAndNotAnEmptyJournal() throws {
        do {
            let store = try open()
            let job = try store.begin(request, requestText: "{}", now: 1)
            try store.plan((0..<500).map { planned(String($0)) }, of: job)
        }
        let path = folder.path + "/tasks.sqlite"
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        let size = try handle.seekToEnd()
        try #require(size > 8192, "the journal was brought into its file when it was closed")
        for offset in stride(from: 4096, to: size, by: 4096) {
            try handle.seek(toOffset: offset)
            try handle.write(contentsOf: Data(repeating: 0xff, count: 512))
        }
        try handle.close()
        let error = #expect(throws: StoreError.self) {
            try self.open().known((0..<500).map { "/out/\($0).jpg" })
        }
        #expect(error?.code == .damaged)
    }

    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        let file = folder.path + "/file"
        try Data().write(to: URL(fileURLWithPath: file))
        let error = #expect(throws: StoreError.self) { try TaskStore(folder: file + "/state", program: "1") }
        #expect(error?.code == .cannotOpen)
    }
    @Test("rule 97: energy is summed from the hour of a moment on, whatever number that is")
    func energySinceAMoment() throws {
        let store = try open()
        let record = EnergyRecord(job: 1, joules: 2, isMeasured: true)
        try store.addEnergy([record, record], at: 7_300)
        let sum = EnergyRecord(job: 1, joules: 4, isMeasured: true)
        for moment in [7_200, 10_799, -1e300, -Double.infinity] { #expect(try store.energy(since: moment) == [sum]) }
        for moment in [10_800, 1e300, Double.infinity, .nan] { #expect(try store.energy(since: moment).isEmpty) }
    }
}

extension TaskStore {
    fileprivate func pictures(below folder: String) throws -> [MadeRecord] {
        var pictures: [MadeRecord] = []
        try forEachPicture(below: folder) { pictures.append($0) }
        return pictures
    }
}
