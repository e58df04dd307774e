import ArgumentParser
import Foundation
import Glibc
import ServiceAPI
import ServiceClient
import TaskModel

/// `bgrun usage`.
struct UsageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage", abstract: "Show the processor time and the energy that jobs took.",
        discussion: """
            Energy is measured where the machine counts it and lets you read that: processors' counters (as root), a \
            power meter, the battery while it is being emptied. Jobs share it by processor time. Elsewhere it is \
            estimated: 3.5 W for a busy processor, or what BGRUN_PROCESSOR_WATTS says when the service starts.

            EXAMPLES
              bgrun usage
              bgrun usage --days 10 --json
            """)

    @Option(help: .init("How many days are looked back.", valueName: "n"))
    var days = 1.0

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard UsageDocument.possibleDays.contains(days) else {
            throw ValidationError("--days takes a number from 0 to \(Int(UsageDocument.possibleDays.upperBound))")
        }
    }

    func run() throws {
        let usage = try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.usage(days: days) }
        if json { return try StandardOutput.print(JSONText.encode(usage) + "\n") }
        var text = ""
        for job in usage.jobs {
            let name = job.title.isEmpty ? "job \(job.id)" : job.title
            text +=
                "\(job.id)  \(Self.time(job.processorSeconds)) of processor time in "
                + "\(Self.time(job.runningSeconds)), \(Self.energy(job))  \(name)\n"
        }
        text += "\(Self.time(usage.processorSeconds)) of processor time in all.\n"
        if usage.measuredJoules + usage.othersJoules > 0 {
            text +=
                "\(Self.energy(usage.measuredJoules)) measured; "
                + "other programs took \(Self.energy(usage.othersJoules)) meanwhile.\n"
        }
        if usage.estimatedJoules > 0 {
            text +=
                "\(Self.energy(usage.estimatedJoules)) estimated, at \(usage.processorWatts) W for a busy processor: "
                + "nothing that may be read counted it.\n"
        }
        try StandardOutput.print(text)
    }

    private static func energy(_ job: UsageDocument.Entry) -> String {
        let label = job.estimatedJoules == 0 ? "measured" : job.measuredJoules == 0 ? "estimated" : "partly estimated"
        let each = job.outputs.flatMap { $0 > 0 ? ", \(energy(job.joules / Double($0))) an output" : nil } ?? ""
        return "\(energy(job.joules)) \(label)\(each)"
    }

    private static func energy(_ joules: Double) -> String {
        joules < 1000
            ? String(format: joules < 10 ? "%.1f J" : "%.0f J", joules) : String(format: "%.1f kJ", joules / 1000)
    }

    private static func time(_ seconds: Double) -> String {
        TimeSpan(duration: .milliseconds(Int((seconds * 1000).rounded()))).description
    }
}
