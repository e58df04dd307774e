import ArgumentParser
import Foundation
import ProgramLink
import ServiceClient
import TaskModel

/// `bgrun simulate happen`.
struct HappenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "happen",
        abstract: "Have something happen to a job or a program that runs, as a test wants it.",
        discussion: """
            The service, or the program, has to be started with BGRUN_SIMULATION=1: nobody else is to be told what is \
            not true.

            KINDS
              launch   a request that waits starts now, whatever its conditions
              expire   a running task is asked to end, with --reason
              crash    the process of a job is gone without a word, as when a driver takes it along
              hang     the process of a job does not answer any more
              lose     a condition no longer holds, whatever is measured: network, externalPower, outputVolume (a full \
            disk), and what else bgrun conditions shows
              meet     a condition holds
              measure  a condition is what is measured again
              unplug   a device fails: what runs on it goes on with the CPU, or waits for another attempt

            EXAMPLES
              BGRUN_SIMULATION=1 bgrun run --title Backup --idle -- ./backup.sh
              bgrun simulate happen launch 3
              bgrun simulate happen expire 3 --reason conditionLost.network
              bgrun simulate happen lose network
              bgrun simulate happen lose network --program org.example.mail
              bgrun simulate happen launch org.example.mail.fetch

            EXIT STATUS
              0    it has happened
              66   there is nothing for it to happen to
              69   no process of the program runs
              77   the service or the program was started without BGRUN_SIMULATION=1
            """)

    @Argument(help: .init("What happens.", valueName: "kind"))
    var kind: Simulation.Kind

    @Argument(
        help: .init(
            "The number of a job, or the identifier of a program's task; a condition; a device.", valueName: "target"))
    var target: String

    @Option(help: .init("Why a task is asked to end, e.g. quota.", valueName: "code"))
    var reason: StopReason?

    @Option(help: .init("To whom, where that is not the service nor said by the target.", valueName: "name"))
    var program: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard reason == nil || kind == .expire else { throw ValidationError("--reason goes with expire") }
    }

    func run() throws {
        let simulation = Simulation(kind, target, reason: reason)
        if let program = program ?? ProgramAccess.caller.program(of: target) {
            _ = try ProgramAccess.ask(program, .simulate(simulation))
        } else {
            try ServiceAccess.ask { client throws(ServiceClient.Failure) in try client.simulate(simulation) }
        }
        try StandardOutput.print(json ? JSONText.encode(simulation) + "\n" : "It has happened: \(kind) \(target).\n")
    }
}

extension Simulation.Kind: ExpressibleByArgument {}
extension StopReason: ExpressibleByArgument {
    public static var allValueStrings: [String] { allCases.map(\.code) }
}
