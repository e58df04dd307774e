import Glibc
import JobLink
package import TaskModel

/// Asks programs that run.
package struct ProgramCaller: Sendable {
    package let place: ProgramPlace

    package init(_ place: ProgramPlace) {
        self.place = place
    }

    /// Asks every scheduler of a program that runs. What a process left that is gone is cleaned away.
    ///
    /// - Returns: An answer of each.
    /// - Throws: `programNotRunning` when nobody answers.
    package func ask(_ program: String, _ request: ProgramRequest) throws(Diagnostic) -> [ProgramAnswer] {
        var answers: [ProgramAnswer] = []
        let sockets = place.sockets(of: program)
        if !sockets.isEmpty {
            let folder = try place.openFolder(of: program)
            defer { close(folder) }
            answers = sockets.compactMap { ask($0, in: folder, request) }
        }
        guard answers.isEmpty else { return answers }
        let others = place.programs.filter { !place.sockets(of: $0).isEmpty }
        throw Diagnostic(
            code: "programNotRunning", sentence: "No process of \(program) that can be asked anything runs.",
            fix: others.isEmpty
                ? "Start it; it hears of pokes when it has set a handler for them."
                : "These can be asked: \(others.joined(separator: ", ")).")
    }

    /// The program whose name the identifier begins with, the longest one where there are several; nil when none runs.
    package func program(of identifier: String) -> String? {
        place.programs.filter { identifier.hasPrefix($0 + ".") && !place.sockets(of: $0).isEmpty }.max {
            $0.count < $1.count
        }
    }

    private func ask(_ socket: String, in folder: Int32, _ request: ProgramRequest) -> ProgramAnswer? {
        guard let descriptor = ProgramSocket.connect(socket, in: folder) else {
            if errno == ECONNREFUSED { unlinkat(folder, socket, 0) }
            return nil
        }
        let channel = PacketChannel(descriptor: descriptor)
        defer { channel.closeDescriptor() }
        guard case .done = channel.send(request),
            case .message(let answer) = channel.receive(ProgramAnswer.self, waiting: true)
        else { return nil }
        return answer
    }
}
