import ArgumentParser
import Foundation
import Glibc

/// `bgrun-bench soak`: memory, rate and processor time of one long export, from its first pictures to its last, and of the
/// same export again, which has nothing to do.
struct SoakCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Export thousands of pictures in one job and show its memory and its rate on the way.")

    @Argument(help: "Folder of photographs; they are used again and again, under new names.")
    var photos: String

    @Option(help: "Path of bgrun; by default beside this program.")
    var bgrun: String?

    @Option(help: "Pictures to export.")
    var count = 10_000

    @Option(
        parsing: .unconditional, help: .init("More arguments of the export, as one text.", valueName: "text"))
    var arguments = "--size 1024"

    @Option(help: "Folder for what is made; by default the one for temporary files.")
    var place: String?

    /// Inputs in a folder.
    private static let filesInAFolder = 1000

    private struct Sample {
        var files: Int
        var bytes: Int
        var seconds: Double
    }

    func run() throws {
        let place = (self.place.map { $0 + "/" } ?? NSTemporaryDirectory()) + "bgrun-soak-" + UUID().uuidString
        // What cannot be removed stays in the folder for temporary files.
        defer { _ = try? FileManager.default.removeItem(atPath: place) }
        try makeInputs(in: place + "/photos")
        let (samples, use, _) = try export(place)
        guard let last = samples.last, last.files == count else {
            throw ProcessError(description: "the export did not come to its end: \(samples.last?.files ?? 0) pictures")
        }
        let parts = (1...10).map { tenth in
            let range = count * (tenth - 1) / 10..<count * tenth / 10
            return samples.filter { range.contains($0.files - 1) }
        }
        let tenths = parts.map { $0.map(\.bytes).sorted() }
        print("  pictures  MiB (median)  MiB (most)  a second")
        for (tenth, bytes) in tenths.enumerated() where !bytes.isEmpty {
            print(
                String(
                    format: "%10d  %12.1f  %10.1f  %8.0f", count * (tenth + 1) / 10,
                    Self.mebibytes(bytes[bytes.count / 2]), Self.mebibytes(bytes[bytes.count - 1]),
                    Self.rate(parts[tenth])))
        }
        print(
            String(
                format: "supervisor: %.1f %% of the processor time, %.0f MiB at most",
                100 * use.seconds / max(use.secondsOfAll, 0.01), Self.mebibytes(use.bytes)))
        let (_, again, seconds) = try export(place)
        print(
            String(
                format: "the same again, with nothing to do: %.1f s, %.0f MiB at most", seconds,
                Self.mebibytes(again.bytes)))
        guard let second = tenths[1].isEmpty ? nil : tenths[1], let end = tenths.last, !end.isEmpty else {
            throw ProcessError(description: "too few samples: give more pictures")
        }
        let ratio = Double(end[end.count / 2]) / Double(second[second.count / 2])
        print(String(format: "last tenth against the second: %.3f", ratio))
    }

    /// Links, so that ten thousand pictures take the room of a few.
    private func makeInputs(in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let names = try FileManager.default.contentsOfDirectory(atPath: photos).filter { !$0.hasPrefix(".") }.sorted()
        guard !names.isEmpty else { throw ProcessError(description: "there are no photographs in \(photos)") }
        for number in 0..<count {
            let name = names[number % names.count]
            let part = "\(folder)/\(number / Self.filesInAFolder)"
            if number % Self.filesInAFolder == 0 {
                try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: true)
            }
            let target = "\(part)/\(number)-\(name)"
            if link("\(photos)/\(name)", target) != 0 {
                try FileManager.default.copyItem(atPath: "\(photos)/\(name)", toPath: target)
            }
        }
    }

    /// Pictures a second between the first and the last of some samples.
    private static func rate(_ samples: [Sample]) -> Double {
        guard let first = samples.first, let last = samples.last, last.seconds > first.seconds else { return .nan }
        return Double(last.files - first.files) / (last.seconds - first.seconds)
    }

    /// Runs the export, and looks at its memory with each line of its progress.
    ///
    /// - Returns: What was seen, what the supervisor took, and how long it ran in seconds.
    private func export(_ place: String) throws -> ([Sample], SupervisorUse.Use, Double) {
        let process = Process()
        process.executableURL = URL(filePath: bgrun ?? Self.besideThisProgram)
        process.arguments =
            ["export", place + "/photos", "--out", place + "/out", "--in-process", "--progress", "json"]
            + arguments.split(separator: " ").map(String.init)
        process.environment = ProcessInfo.processInfo.environment.merging(["XDG_STATE_HOME": place + "/state"]) { $1 }
        let lines = Pipe()
        process.standardError = lines
        process.standardOutput = FileHandle.nullDevice
        let begin = ContinuousClock.now
        try process.run()
        let watch = SupervisorUse(of: process.processIdentifier)
        var samples: [Sample] = []
        var text = ""
        while true {
            let data = lines.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            text += String(decoding: data, as: UTF8.self)
            while let end = text.firstIndex(of: "\n") {
                if let match = text[..<end].firstMatch(of: /"files":(\d+)/), let files = Int(match.1) {
                    samples.append(
                        Sample(
                            files: files, bytes: MemorySampler.bytes(below: getpid()),
                            seconds: (ContinuousClock.now - begin) / .seconds(1)))
                }
                text.removeSubrange(...end)
            }
        }
        process.waitUntilExit()
        return (samples, watch.stop(), (ContinuousClock.now - begin) / .seconds(1))
    }

    private static func mebibytes(_ bytes: Int) -> Double { Double(bytes) / Double(1 << 20) }

    private static var besideThisProgram: String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (own as NSString).deletingLastPathComponent + "/bgrun"
    }
}
