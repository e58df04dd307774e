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

/// Builds the core with one mutation or none, links it to the simulation, and runs that as another program.
///
/// All but the core is built once. The core is not optimized, so that nothing of it gets into other modules.
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
        import SchedulerSimulation

        let wanted = CommandLine.arguments[1]
        let seeds = UInt64(CommandLine.arguments[2]) ?? 0
        let steps = Int(CommandLine.arguments[3]) ?? 0
        var others: [String] = []
        for seed in 1...seeds {
            let report = Simulation.run(seed: seed, steps: steps)
            if let violation = report.violation {
                if wanted == "any" || violation.invariant.rawValue == wanted {
                    print("found", violation.invariant.rawValue, "seed", seed)
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

    init() async throws {
        place = FileManager.default.temporaryDirectory.appending(path: "bgrun-mutations-\(UUID().uuidString)")
        root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        products = URL(filePath: own).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try await compile("TaskModel", sources(of: "Sources/TaskModel"), ["-O"], in: place)
        try await compile("SchedulingCore", sources(of: "Sources/SchedulingCore"), ["-Onone"], in: place)
        try await compile("SeededNumbers", sources(of: "Tests/SeededNumbers"), ["-O"], in: place)
        try await compile("SchedulerSimulation", sources(of: "Tests/SchedulerSimulation"), ["-O"], in: place)
        let main = place.appending(path: "main.swift")
        try Self.program.write(to: main, atomically: false, encoding: .utf8)
        try await swiftc(["-Onone", "-module-name", "Play", "-emit-object", main.path, "-o", "Play.o"], in: place)
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
        var sources = try sources(of: "Sources/SchedulingCore")
        if let mutation { try mutate(&sources, mutation, in: folder) }
        try await compile("SchedulingCore", sources, ["-Onone"], in: folder)
        let built = ["TaskModel", "SeededNumbers", "SchedulerSimulation", "Play"].map {
            place.appending(path: "\($0).o").path
        }
        let used = try ["HeapModule.build", "InternalCollectionsUtilities.build"].flatMap { name in
            let build = products.appending(path: name)
            return try FileManager.default.contentsOfDirectory(atPath: build.path).filter { $0.hasSuffix(".o") }
                .sorted()
                .map { build.appending(path: $0).path }
        }
        let executable = folder.appending(path: "simulate").path
        try await swiftc(["SchedulingCore.o"] + built + used + ["-lm", "-o", executable], in: folder)
        let played = try await command([executable, wanted, "\(seeds)", "\(steps)"], in: folder)
        guard played.status == 0 else { throw Failure(description: "It crashed (\(played.status)):\n\(played.output)") }
        return played.output.split(separator: "\n").map(String.init)
    }

    private func sources(of part: String) throws -> [String] {
        let folder = root.appending(path: part).path
        return try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
            .filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
    }

    /// Puts a mutated copy in the place of one source.
    private func mutate(_ sources: inout [String], _ mutation: Mutation, in folder: URL) throws {
        guard let index = sources.firstIndex(of: root.appending(path: "Sources/\(mutation.file)").path) else {
            throw Failure(description: "The mutation needs an update: there is no \(mutation.file) in the core.")
        }
        let text = try String(contentsOfFile: sources[index], encoding: .utf8)
        guard text.components(separatedBy: mutation.old).count == 2 else {
            throw Failure(
                description: "The mutation needs an update: its text is not exactly once in \(mutation.file).")
        }
        sources[index] = folder.appending(path: "Mutated.swift").path
        try text.replacingOccurrences(of: mutation.old, with: mutation.new)
            .write(toFile: sources[index], atomically: false, encoding: .utf8)
    }

    /// Leaves an object and a module in the folder.
    private func compile(_ module: String, _ sources: [String], _ options: [String], in folder: URL) async throws {
        try await swiftc(
            options + ["-wmo", "-parse-as-library", "-module-name", module, "-emit-module", "-emit-object"] + sources
                + ["-o", "\(module).o"], in: folder)
    }

    private func swiftc(_ arguments: [String], in folder: URL) async throws {
        let modules = ["-I", place.path, "-I", products.appending(path: "Modules").path]
        let language = [
            "-swift-version", "6", "-enable-upcoming-feature", "InternalImportsByDefault", "-suppress-warnings",
        ]
        let compiled = try await command(
            ["swiftc", "-package-name", "bgrun"] + language + modules + arguments, in: folder)
        guard compiled.status == 0 else { throw Failure(description: "It does not compile:\n\(compiled.output)") }
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
