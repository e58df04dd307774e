import Foundation
import Glibc

/// One thread of another session that computes without end, unless it is paused.
final class BusyProgram {
    private let program: SessionProgram

    /// It begins paused.
    ///
    /// - Throws: ``ProcessError`` where it cannot be started.
    init() throws(ProcessError) {
        program = try SessionProgram(
            [Executables.own, "probe", "throughput", "--threads", "1", "--seconds", "86400", "--rounds", "1000000"],
            environment: ProcessInfo.processInfo.environment)
        // Not before it has begun to compute.
        while processorSeconds < 0.1 { usleep(1000) }
        pause()
    }

    var processorSeconds: Double { ProcessUse.nanoseconds(of: [program.process]) * 1e-9 }

    func pause() { kill(program.process, SIGSTOP) }
    func goOn() { kill(program.process, SIGCONT) }
    func end() { program.end() }
}
