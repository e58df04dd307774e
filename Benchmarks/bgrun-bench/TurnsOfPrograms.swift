import Foundation
import Glibc

/// Programs of which one at a time goes on, each for a slice and then the next, while the others are stopped.
///
/// What the machine does to one slice it does to the next as well: their times differ by what they are, where those
/// of runs one after the other differ by the minute in which they ran.
struct TurnsOfPrograms {
    struct Program {
        /// Starts it.
        var start: () throws -> SessionProgram
        /// A process that works for it, and that lives before and after it; it is stopped in the others' slices.
        var helper: pid_t?
    }

    /// What a program took of its own slices.
    struct Use {
        /// Seconds.
        var wall = 0.0
        /// Seconds of all processors, of the kernel's work as well.
        var processors = 0.0
    }

    /// Seconds.
    var slice = 0.25

    /// Runs each to its end; the first one begins.
    ///
    /// - Throws: ``ProcessError`` when one leaves a status other than 0.
    func run(_ programs: [Program]) throws -> [Use] {
        var uses = programs.map { _ in Use() }
        var running: [SessionProgram?] = programs.map { _ in nil }
        var waiting = Array(programs.indices)
        defer {
            for program in running.compactMap({ $0 }) { program.end() }
            for helper in programs.compactMap(\.helper) { Self.signal(SIGCONT, below: helper) }
        }
        while let index = waiting.first {
            let roots = { [running[index]?.process, programs[index].helper].compactMap { $0 } }
            let clock = SuspendingClock()
            let (begin, used) = (clock.now, ProcessUse.busySeconds())
            for root in roots() { Self.signal(SIGCONT, below: root) }
            let program = try running[index] ?? programs[index].start()
            running[index] = program
            var status = program.statusIfEnded()
            while status == nil && begin.duration(to: clock.now) < .seconds(slice) {
                usleep(2_000)
                status = program.statusIfEnded()
            }
            waiting.removeFirst()
            if let status {
                running[index] = nil
                guard status == 0 else { throw ProcessError(description: "program \(index) left status \(status)") }
            } else {
                waiting.append(index)
            }
            for root in roots() { Self.signal(SIGSTOP, below: root) }
            uses[index].wall += begin.duration(to: clock.now) / .seconds(1)
            uses[index].processors += ProcessUse.busySeconds() - used
        }
        return uses
    }

    /// Parents first, so that a stopped one starts no other meanwhile.
    private static func signal(_ signal: Int32, below root: pid_t) {
        kill(root, signal)
        for child in ProcessUse.children(of: root) { Self.signal(signal, below: child) }
    }
}
