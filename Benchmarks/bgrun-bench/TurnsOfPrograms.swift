import Foundation
import Glibc

/// Programs of which one at a time goes on, each to its end or for a slice, while the others are stopped.
///
/// What the machine does to one slice it does to the next as well, where runs one after the other differ by the minute in
/// which they ran. In turn each slice begins with what the others left in the caches, and with stopped processes to be
/// woken: slices of a quarter second made a plain loop 5 % longer.
struct TurnsOfPrograms {
    struct Program {
        var name: String
        /// Takes what it writes to its standard error.
        var errors: String
        /// Starts it.
        var start: () throws -> SessionProgram
        /// A process that works for it, and that lives before and after it; from its first slice until it has ended, it is
        /// stopped in the others' slices.
        var helper: pid_t?
    }

    /// What a program took of its own slices.
    struct Use {
        /// Seconds.
        var wall = 0.0
        /// Seconds of all processors, of the kernel's work as well.
        var processors = 0.0
    }

    /// Seconds; nil to let each run to its end in one.
    var slice: Double?

    /// Runs each to its end; the first one begins.
    ///
    /// - Throws: ``ProcessError`` when one leaves a status other than 0.
    func run(_ programs: [Program]) throws -> [Use] {
        var uses = programs.map { _ in Use() }
        var running: [SessionProgram?] = programs.map { _ in nil }
        var waiting = Array(programs.indices)
        defer {
            for program in running.compactMap({ $0 }) { program.end() }
            for helper in programs.compactMap(\.helper) { ProcessUse.tree(helper).forEach { kill($0, SIGCONT) } }
        }
        while let index = waiting.first {
            let roots = { [running[index]?.process, programs[index].helper].compactMap { $0 } }
            // Looked up while nothing goes on: a program of many processes takes milliseconds to be found.
            let family = roots().flatMap(ProcessUse.tree)
            let clock = SuspendingClock()
            let (begin, used) = (clock.now, ProcessUse.busySeconds())
            for process in family { kill(process, SIGCONT) }
            let program = try running[index] ?? programs[index].start()
            running[index] = program
            var status = program.statusIfEnded()
            while status == nil, slice.map({ begin.duration(to: clock.now) < .seconds($0) }) ?? true {
                usleep(2_000)
                status = program.statusIfEnded()
            }
            for process in family { kill(process, SIGSTOP) }
            uses[index].wall += begin.duration(to: clock.now) / .seconds(1)
            uses[index].processors += ProcessUse.busySeconds() - used
            waiting.removeFirst()
            if let status {
                running[index] = nil
                guard status == 0 else {
                    let text = readSmallFile(programs[index].errors) ?? ""
                    throw ProcessError(description: "\(programs[index].name) left status \(status): \(text)")
                }
                // It may still write down that the work has ended: stopped within that, it would hold the journal's lock,
                // without which another export gives up after a while.
                if let helper = programs[index].helper {
                    ProcessUse.tree(helper).forEach { kill($0, SIGCONT) }
                    usleep(200_000)
                }
            } else {
                waiting.append(index)
                Self.stop(roots())
            }
        }
        return uses
    }

    /// Those that were started in the slice as well.
    private static func stop(_ roots: [pid_t]) {
        var stopped: Set<pid_t> = []
        var others = roots.flatMap(ProcessUse.tree)
        while !others.isEmpty {
            for process in others { kill(process, SIGSTOP) }
            stopped.formUnion(others)
            others = roots.flatMap(ProcessUse.tree).filter { !stopped.contains($0) }
        }
    }
}
