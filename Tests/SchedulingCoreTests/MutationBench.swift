import Foundation
import Testing

/// A deliberate fault in the core's source, and the invariant by which the simulation has to find it.
struct Mutation: Sendable, CustomTestStringConvertible {
    var name: String
    /// Below `Sources`.
    var file: String
    var old: String
    var new: String
    var invariant: String

    var testDescription: String { name }
}

/// Builds the core and its simulation from source as one program, with one mutation or none, and runs it.
///
/// It lies in a folder of its own.
final class MutationBench: Sendable {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let place: URL
    private let root: URL
    /// Where this test itself was built, with the modules that the core uses.
    private let products: URL

    /// Plays seeds until one breaks the invariant given as first argument, or any if that is "any".
    private static let program = """
        let wanted = CommandLine.arguments[1]
        let seeds = UInt64(CommandLine.arguments[2]) ?? 0
        let steps = Int(CommandLine.arguments[3]) ?? 0
        var others: [String] = []
        for seed in 1...seeds {
            let report = Simulation.run(seed: seed, steps: steps)
            if let violation = report.violation {
                if wanted == "any" || violation.invariant.rawValue == wanted {
                    print("found", violation.invariant.rawValue)
                    print(violation)
                    break
                }
                others.append(violation.invariant.rawValue)
            } else {
                print("passed", seed, report.digest)
            }
        }
        print("others", others)
        """

    init() throws {
        place = FileManager.default.temporaryDirectory.appending(path: "bgrun-mutations-\(UUID().uuidString)")
        root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        products = URL(filePath: own).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    }

    /// Takes the folder away. Not left to the end of the bench, which the end of all tests may forestall.
    func remove() {
        // What cannot be removed stays in the folder for temporary files.
        _ = try? FileManager.default.removeItem(at: place)
    }

    /// - Returns: The lines that the program printed.
    func run(_ mutation: Mutation?, wanted: String, seeds: Int, steps: Int) async throws -> [String] {
        let folder = place.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // What cannot be removed goes with the bench.
        defer { _ = try? FileManager.default.removeItem(at: folder) }
        var sources: [String] = []
        for part in ["Sources/TaskModel", "Sources/SchedulingCore", "Tests/SchedulerSimulation"] {
            sources += try copy(part, to: folder, mutation)
        }
        let main = folder.appending(path: "main.swift")
        try Self.program.write(to: main, atomically: false, encoding: .utf8)
        sources.append(main.path)
        let executable = folder.appending(path: "simulate").path
        let objects = try ["HeapModule.build", "InternalCollectionsUtilities.build"].flatMap { name in
            let build = products.appending(path: name)
            return try FileManager.default.contentsOfDirectory(atPath: build.path).filter { $0.hasSuffix(".o") }
                .sorted()
                .map { build.appending(path: $0).path }
        }
        let compiled = try await command(
            ["swiftc", "-Onone", "-wmo", "-swift-version", "6", "-suppress-warnings", "-package-name", "bgrun"]
                + ["-module-name", "MutatedScheduler", "-I", products.appending(path: "Modules").path]
                + sources + objects + ["-lm", "-o", executable], in: folder)
        guard compiled.status == 0 else { throw Failure(description: "It does not compile:\n\(compiled.output)") }
        let played = try await command([executable, wanted, "\(seeds)", "\(steps)"], in: folder)
        guard played.status == 0 else { throw Failure(description: "It crashed (\(played.status)):\n\(played.output)") }
        return played.output.split(separator: "\n").map(String.init)
    }

    /// Copies the Swift files of a folder, flat and without the imports of one another.
    private func copy(_ part: String, to folder: URL, _ mutation: Mutation?) throws -> [String] {
        let source = root.appending(path: part)
        return try FileManager.default.subpathsOfDirectory(atPath: source.path).sorted().filter {
            $0.hasSuffix(".swift")
        }
        .map { path in
            var text = try String(contentsOf: source.appending(path: path), encoding: .utf8)
            if let mutation, "Sources/" + mutation.file == part + "/" + path {
                guard text.components(separatedBy: mutation.old).count == 2 else {
                    throw Failure(
                        description: "The mutation needs an update: its text is not exactly once in \(mutation.file).")
                }
                text = text.replacingOccurrences(of: mutation.old, with: mutation.new)
            }
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
                !line.hasSuffix("import TaskModel") && !line.hasSuffix("import SchedulingCore")
            }
            let target = folder.appending(path: (path as NSString).lastPathComponent)
            try lines.joined(separator: "\n").write(to: target, atomically: false, encoding: .utf8)
            return target.path
        }
    }

    private func command(_ arguments: [String], in folder: URL) async throws -> (status: Int32, output: String) {
        let output = folder.appending(path: "output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let handle = try FileHandle(forWritingTo: output)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        let status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        try handle.close()
        return (status, try String(contentsOf: output, encoding: .utf8))
    }
}
