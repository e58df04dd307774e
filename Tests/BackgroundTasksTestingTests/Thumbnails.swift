import BackgroundTasks
import Foundation
import Synchronization

/// A small workload as a program may have it, with room for one mistake.
struct Thumbnails: Sendable {
    /// What is done wrong.
    enum Flaw: String, Sendable, CaseIterable {
        case fails, neverCompletes, completesTwice, hasNoHandler, blocksInHandler, ignoresExpiration, ignoresPause
        case stopsWhenDemoted, failsWhenResumed, needsItsHandler, goesBack, countsTooFew, forgets, writesInPlace,
            keepsPartsAmongResults, leavesState, worksOn, ignoresErrors
    }

    static let count = 12

    var output: URL
    var state: URL
    var write: @Sendable (Data, URL) throws -> Void
    /// Called between writing a file and giving it its name.
    var reach: @Sendable (String) -> Void = { _ in }
    var flaw: Flaw?

    func run(_ task: BGContinuedProcessingTask) {
        let isStopped = Shared(false)
        if flaw != .hasNoHandler {
            task.expirationHandler = {
                isStopped.change { $0 = true }
                if flaw == .blocksInHandler { Self.block() }
            }
        }
        task.progress.totalUnitCount = Int64(Self.count + (flaw == .countsTooFew ? 3 : 0))
        var isDone = flaw != .fails
        do {
            if flaw == .forgets { try appendRun() }
            if flaw == .failsWhenResumed, try !FileManager.default.contentsOfDirectory(atPath: path(output)).isEmpty {
                throw CocoaError(.fileWriteFileExists)
            }
            let mark = state.appending(path: "running")
            if flaw == .needsItsHandler {
                let isMarked = FileManager.default.fileExists(atPath: path(mark))
                if isMarked || !FileManager.default.fileExists(atPath: path(runs)) { try appendRun() }
                try write(Data(), mark)
            }
            defer { if flaw == .needsItsHandler { _ = unlink(path(mark)) } }
            for number in 0..<Self.count {
                if isStopped.current {
                    if flaw == .ignoresExpiration { Self.block() }
                    isDone = false
                    break
                }
                if flaw == .stopsWhenDemoted, task.terms.priority == .background {
                    isDone = false
                    break
                }
                if flaw != .ignoresPause { task.blockWhilePaused() }
                try make(number)
                if flaw == .goesBack, number == 6 { task.progress.completedUnitCount = 2 }
                task.chunkCommitted(units: 1)
            }
            if flaw == .leavesState, !isDone {
                try write(Data(), state.appending(path: UUID().uuidString))
            }
        } catch {
            isDone = flaw == .ignoresErrors
        }
        if flaw == .neverCompletes { return }
        task.setTaskCompleted(success: isDone)
        if flaw == .completesTwice { task.setTaskCompleted(success: isDone) }
        if flaw == .worksOn { try? write(Data("late".utf8), output.appending(path: "0.txt")) }
    }

    private func make(_ number: Int) throws {
        let file = output.appending(path: "\(number).txt")
        if FileManager.default.fileExists(atPath: path(file)) { return }
        let data = Data(String(repeating: "thumbnail \(number)\n", count: number + 1).utf8)
        if flaw == .writesInPlace {
            try write(data.prefix(5), file)
            reach("half")
            return try write(data, file)
        }
        let folder = flaw == .keepsPartsAmongResults ? output : state
        let part = folder.appending(path: "part")
        try write(data, part)
        reach("written")
        guard rename(path(part), path(file)) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    private var runs: URL { output.appending(path: "runs.txt") }

    private func path(_ url: URL) -> String { url.path(percentEncoded: false) }

    /// Makes the result depend on how often it was begun.
    private func appendRun() throws {
        let before = (try? Data(contentsOf: runs)) ?? Data()
        try write(before + Data("run\n".utf8), runs)
    }

    /// Longer than the grace of the tests.
    private static func block() {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(400))
    }
}
