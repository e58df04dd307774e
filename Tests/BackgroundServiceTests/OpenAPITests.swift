import BackgroundService
import Foundation
import ServiceAPI
import TaskModel
import Testing
import Yams

/// The description of the interface says what the documents are.
@Suite struct OpenAPITests {
    private func schema(_ name: String) throws -> (properties: Set<String>, required: Set<String>) {
        let document = try #require(try Yams.load(yaml: ServiceRouter.description) as? [String: Any])
        let schemas = try #require((document["components"] as? [String: Any])?["schemas"] as? [String: Any])
        let schema = try #require(schemas[name] as? [String: Any])
        return (
            Set((schema["properties"] as? [String: Any] ?? [:]).keys), Set(schema["required"] as? [String] ?? [])
        )
    }

    private func keys(_ value: some Encodable) throws -> Set<String> {
        let data = try JSONEncoder().encode(value)
        return Set(try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any]).keys)
    }

    @Test func jobsAreAsDescribed() throws {
        var job = JobDocument(
            id: 1, identifier: "a.b", mode: .continued, title: "", subtitle: "", state: .running, priority: .background,
            attempt: 1, submitted: 1, arguments: [], folder: "/")
        let schema = try schema("Job")
        #expect(try keys(job) == schema.required)
        job.priorityTier = "autogroup"
        job.processorLimit = 0.5
        job.terms = .init(
            RunTerms(priority: .background, chunkTarget: .milliseconds(50), dutyCycle: 1, concurrency: 1))
        job.progress = ProgressSnapshot(
            itemsDone: 1, itemsTotal: 2, failures: 0, fraction: 0.5, megapixelsPerSecond: 1, secondsLeft: nil)
        (job.fraction, job.phase, job.device, job.started, job.ended) = (0.5, "a", "cpu", 1, 2)
        (job.outcome, job.status, job.text, job.summary, job.process) = ("completed", 0, "", "{}", 7)
        #expect(try keys(job) == schema.properties)
    }

    @Test func submissionsAreAsDescribed() throws {
        let submission = JobSubmission(
            work: .command, arguments: ["true"], folder: "/", environment: [:], umask: 0o22, title: "", name: "",
            earliestBegin: 1, interval: 1, requestKey: "k")
        let schema = try schema("Submission")
        #expect(try keys(submission) == schema.properties)
        let least = #"{"arguments": ["true"], "folder": "/"}"#
        #expect(schema.required == ["arguments", "folder"])
        #expect(try JSONDecoder().decode(JobSubmission.self, from: Data(least.utf8)).title == "true")
    }

    @Test func statusUsageAndRefusalsAreAsDescribed() throws {
        let status = ServiceStatus(
            version: "1", process: 1, started: 1, active: 0, running: 0, isDraining: false, priorityTier: "",
            priorityTierReason: "")
        #expect(try keys(status) == schema("Status").properties)
        let usage = UsageDocument(period: 1, jobs: [], othersJoules: 0, processorWatts: 1)
        #expect(try keys(usage) == schema("Usage").properties)
        #expect(try keys(Refusal(code: "a", sentence: "b", fix: "c")) == schema("Refusal").required)
    }

    @Test func simulationsAreAsDescribed() throws {
        let schema = try schema("Simulation")
        #expect(try keys(Simulation(.expire, "3", reason: .quota)) == schema.properties)
        #expect(try keys(Simulation(.launch, "3")) == schema.required)
        for kind in Simulation.Kind.allCases { #expect(ServiceRouter.description.contains(kind.rawValue)) }
    }

    @Test func everyVerbIsDescribed() throws {
        for verb in JobVerb.allCases { #expect(ServiceRouter.description.contains(verb.rawValue)) }
    }
}
