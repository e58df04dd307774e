import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import Synchronization
import Testing

@Suite struct ConformanceTests {
    private static func check(_ flaw: Thumbnails.Flaw? = nil) -> WorkloadCheck {
        WorkloadCheck { stage in
            let thumbnails = Thumbnails(
                output: stage.output, state: stage.state, write: stage.volume.write, reach: stage.reach, flaw: flaw)
            return Workload(BGContinuedProcessingTask.self) { task in thumbnails.run(task) }
        }
    }

    @Test("rule 99: a workload that keeps to the rules has no findings")
    func conforms() async throws {
        #expect(try await Self.check().findings() == [])
    }

    @Test("rule 99: each mistake of a workload is found", arguments: Thumbnails.Flaw.allCases)
    func flawIsFound(flaw: Thumbnails.Flaw) async throws {
        var check = Self.check(flaw)
        check.expirations = 4
        check.others = 2
        if [.neverCompletes, .blocksInHandler, .ignoresExpiration].contains(flaw) {
            check.limits.grace = .milliseconds(100)
            check.limits.patience = .milliseconds(1_500)
        }
        let findings = try await check.findings()
        #expect(findings.map(\.code).contains(flaw.code), "\(findings)")
        #expect(findings.allSatisfy { !$0.sentence.isEmpty && !$0.fix.isEmpty })
    }

    @Test("rule 99: work that goes wrong only without time for its handler is found")
    func withoutTime() async throws {
        var check = Self.check(.needsItsHandler)
        check.expirations = 0
        let findings = try await check.findings()
        let finding = try #require(findings.first { $0.code == .outputDiffers })
        #expect(finding.sentence.contains("without time for its handler"))
    }

    @Test("rule 99, rule 82: a workload that is killed at a moment goes on in another process, byte for byte")
    func killed() async throws {
        var check = Self.check()
        check.expirations = 0
        check.others = 2
        let findings = try await check.findings { kill in
            await #expect(processExitsWith: .signal(SIGKILL)) { [kill = kill as WorkloadKill] in
                try await kill.run(ConformanceTests.check())
            }
        }
        #expect(findings == [])
    }

    @Test("rule 99: half a file that a killed process leaves among its results is found")
    func killedInTheMiddle() async throws {
        var check = Self.check(.writesInPlace)
        check.expirations = 0
        check.others = 2
        let findings = try await check.findings { kill in
            await #expect(processExitsWith: .signal(SIGKILL)) { [kill = kill as WorkloadKill] in
                try await kill.run(ConformanceTests.check(.writesInPlace))
            }
        }
        #expect(findings.map(\.code).contains(.partialFile))
    }

    @Test func anAsyncWorkloadIsChecked() async throws {
        let good = WorkloadCheck { stage in
            Workload(BGContinuedProcessingTask.self) { task in
                task.progress.totalUnitCount = 8
                for number in 0..<8 {
                    try Task.checkCancellation()
                    await task.waitWhilePaused()
                    let file = stage.output.appending(path: "\(number)")
                    try Data("\(number)".utf8).write(to: file, options: .atomic)
                    task.chunkCommitted(units: 1)
                }
            }
        }
        #expect(try await good.findings() == [])
    }

    @Test func aProcessingWorkloadWithPointsIsChecked() async throws {
        let check = WorkloadCheck { stage in
            Workload(BGProcessingTask.self) { task in
                let isStopped = Shared(false)
                task.expirationHandler = { isStopped.change { $0 = true } }
                for number in 0..<5 where !isStopped.current {
                    stage.reach("piece")
                    try? Data("\(number)".utf8).write(to: stage.output.appending(path: "\(number)"), options: .atomic)
                }
                task.setTaskCompleted(success: !isStopped.current)
            }
        }
        #expect(try await check.findings() == [])
    }

    @Test func aWorkloadWithoutMomentsIsStoppedByTime() async throws {
        let runs = Atomic<Int>(0)
        let check = WorkloadCheck { stage in
            _ = runs.add(1, ordering: .relaxed)
            return Workload(BGAppRefreshTask.self) { task in
                let isStopped = Shared(false)
                task.expirationHandler = { isStopped.change { $0 = true } }
                let sum = (0..<2_000_000).reduce(into: 0) { $0 &+= $1 &* $1 }
                let (part, whole) = (stage.state.appending(path: "part"), stage.output.appending(path: "sum"))
                try? Data("\(sum)".utf8).write(to: part)
                _ = rename(part.path(percentEncoded: false), whole.path(percentEncoded: false))
                task.setTaskCompleted(success: !isStopped.current)
            }
        }
        let findings = try await check.findings()
        #expect(findings == [], "\(findings)")
        #expect(runs.load(ordering: .relaxed) > check.expirations)
    }

    @Test func theSameSeedChoosesTheSameMoments() async throws {
        let moments = Shared<[[String]]>([])
        for seed: UInt64 in [7, 7] {
            let seen = Shared<[String]>([])
            var check = WorkloadCheck { stage in
                Workload(BGContinuedProcessingTask.self) { task in
                    task.expirationHandler = { [weak task] in
                        seen.change { $0.append("\(task?.progress.completedUnitCount ?? -1)") }
                    }
                    task.progress.totalUnitCount = 30
                    for _ in 0..<30 where task.stopReason == nil { task.chunkCommitted(units: 1) }
                    seen.change { $0.append("ended at \(task.progress.completedUnitCount)") }
                    task.setTaskCompleted(success: task.stopReason == nil)
                }
            }
            check.seed = seed
            check.others = 0
            _ = try await check.findings()
            moments.change { $0.append(seen.current.filter { $0.hasPrefix("ended") }) }
        }
        #expect(moments.current[0] == moments.current[1])
        #expect(Set(moments.current[0]).count > 5)
    }
}

extension Thumbnails.Flaw {
    /// What it is found as.
    fileprivate var code: WorkloadFinding.Code {
        switch self {
        case .fails: .doesNotRun
        case .neverCompletes: .neverCompleted
        case .completesTwice: .completedTwice
        case .hasNoHandler: .noExpirationHandler
        case .blocksInHandler: .slowExpirationHandler
        case .ignoresExpiration: .graceExceeded
        case .ignoresPause: .pauseIgnored
        case .stopsWhenDemoted: .doesNotGoOn
        case .failsWhenResumed: .doesNotResume
        case .needsItsHandler: .outputDiffers
        case .goesBack: .progressFell
        case .countsTooFew: .progressIncomplete
        case .forgets: .outputDiffers
        case .writesInPlace: .partialFile
        case .keepsPartsAmongResults: .temporaryFile
        case .leavesState: .leftoverState
        case .worksOn: .workAfterCompletion
        case .ignoresErrors: .fullVolumeIgnored
        }
    }
}
