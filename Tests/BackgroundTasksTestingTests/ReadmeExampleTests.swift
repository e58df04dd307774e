import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import Testing

struct Export: Sendable {
    var output: URL
    var state: URL

    func run(_ task: BGContinuedProcessingTask) {
        task.expirationHandler = {}  // the loop looks at stopReason
        task.progress.totalUnitCount = 20
        do {
            for number in 0..<20 where task.stopReason == nil {
                task.blockWhilePaused()
                let file = output.appending(path: "\(number).txt")
                if !FileManager.default.fileExists(atPath: file.path()) {
                    let part = state.appending(path: "part")
                    try Data("picture \(number)".utf8).write(to: part)
                    try FileManager.default.moveItem(at: part, to: file)
                }
                task.chunkCommitted(units: 1)
            }
            task.setTaskCompleted(success: task.progress.completedUnitCount == 20)
        } catch {
            task.setTaskCompleted(success: false)
        }
    }
}

@Suite struct ReadmeExampleTests {
    @Test func exportKeepsToTheRules() async throws {
        let check = WorkloadCheck { stage in
            let export = Export(output: stage.output, state: stage.state)
            return Workload(BGContinuedProcessingTask.self) { task in export.run(task) }
        }
        #expect(try await check.findings() == [])
    }

    @Test func tidyingWaitsForTheNight() async throws {
        let machine = try SimulatedMachine(
            program: "org.example.photos", modes: [.processing], permittedIdentifiers: ["org.example.photos.tidy"])
        machine.scheduler.register("org.example.photos.tidy", for: BGProcessingTask.self) { [clock = machine.clock] _ in
            try await clock.sleep(for: .seconds(1_800))  // or your own handler
        }
        machine.lose(.idle)
        machine.clock.after(.seconds(12 * 3_600)) { machine.meet(.idle) }
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: "org.example.photos.tidy"))
        await machine.advance(by: .seconds(48 * 3_600))
        let tidy = try #require(machine.timeline.requests.first)
        #expect(tidy.waitedFor["condition.idle"] == .seconds(12 * 3_600))
        #expect(tidy.outcome == .completed(failures: 0))
    }

    @Test func theReadmeShowsThisFile() throws {
        let tests = URL(filePath: #filePath)
        let root = tests.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        let example = try #require(blocks.first { $0.contains("WorkloadCheck") })
        let source = try String(contentsOf: tests, encoding: .utf8).split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        for line in example.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
            #expect(source.contains(line), "\(line)")
        }
    }
}
