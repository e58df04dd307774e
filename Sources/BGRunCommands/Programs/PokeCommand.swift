import ArgumentParser
import Foundation
import ProgramLink
import ScheduleSimulation
import TaskModel

/// `bgrun poke`.
struct PokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poke",
        abstract: "Let a program that runs know that there is something for it.",
        discussion: """
            The program hears of it when it may work in the background, and three times an hour at most: pokes before \
            then are merged into one, and of equal names the last value counts. The program is one of yours that uses \
            the library BackgroundTasks and has set a handler for pokes.

            EXAMPLES
              bgrun poke org.example.mail
              bgrun poke org.example.mail folder=inbox unread=3

            EXIT STATUS
              0    the program has the poke, or gets it when its time comes
              69   no process of the program runs that listens to pokes
            """)

    @Argument(help: .init("The name in the program's manifest.", valueName: "program"))
    var program: String

    @Argument(help: .init("What is given along.", valueName: "name=value"))
    var values: [String] = []

    @Flag(help: "Print JSON.")
    var json = false

    private struct Document: Encodable {
        var program: String
        var processes: Int
        /// Seconds until it is heard, 0 when it was.
        var delay: Double
    }

    func validate() throws {
        guard !program.isEmpty, !program.contains("/"), !program.hasPrefix(".") else {
            throw ValidationError("\"\(program)\" is not the name of a program")
        }
        for value in values where value.split(separator: "=", omittingEmptySubsequences: false).count < 2 {
            throw ValidationError("\"\(value)\" is not of the form name=value")
        }
    }

    func run() throws {
        var userInfo: [String: String] = [:]
        for value in values {
            let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            userInfo[String(parts[0])] = String(parts[1])
        }
        let answers = try ProgramAccess.ask(program, .poke(userInfo))
        let delay = answers.compactMap(\.delay).max() ?? 0
        if json {
            let document = Document(program: program, processes: answers.count, delay: delay)
            return try StandardOutput.print(JSONText.encode(document) + "\n")
        }
        let when =
            delay == 0
            ? "has heard of it"
            : "hears of it in \(TimeText.text(.seconds(delay))), merged with other pokes"
        try StandardOutput.print("\(program) \(when).\n")
    }
}
