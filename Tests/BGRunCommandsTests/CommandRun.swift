import Foundation
import Glibc
import TemporaryFolders

/// One run of the built `bgrun`, with a state folder of the test's own.
final class CommandRun {
    private let process = Process()
    private let output: URL
    private let errors = Pipe()
    private var errorText = ""

    /// The program beside this test's own.
    static var executable: String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (own as NSString).deletingLastPathComponent + "/bgrun"
    }

    static func environment(in place: TestPlace) -> [String: String] {
        // Tests run beside each other: a sound driver may be slow to answer.
        ProcessInfo.processInfo.environment.merging(
            [
                "XDG_STATE_HOME": place.path + "/.state", "XDG_CACHE_HOME": place.path + "/.cache",
                "BGRUN_PROBE_DEADLINE": "60", "BGRUN_IN_PROCESS": "1", "XDG_RUNTIME_DIR": place.path + "/.run",
                "BGRUN_IDLE_TIME": "2s",
            ]
        ) { $1 }
    }

    /// Starts the command; it runs until ``end()``.
    init(
        _ arguments: [String], in place: TestPlace, environment: [String: String] = [:], standardOutput: String? = nil,
        standardInput: FileHandle? = nil, program: String = executable
    ) throws {
        output = URL(fileURLWithPath: place.path + "/.stdout-" + UUID().uuidString)
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: place.path)
        process.environment = Self.environment(in: place).merging(environment) { $1 }
        process.standardInput = standardInput ?? FileHandle.nullDevice
        process.standardOutput =
            try standardOutput.flatMap { FileHandle(forWritingAtPath: $0) } ?? FileHandle(forWritingTo: output)
        process.standardError = errors
        try process.run()
    }

    var processID: pid_t { process.processIdentifier }

    func send(_ signal: Int32) {
        kill(process.processIdentifier, signal)
    }

    /// Reads standard error until a text comes, or it ends.
    ///
    /// - Returns: Whether the text came.
    func waits(for text: String) -> Bool {
        while !errorText.contains(text) {
            let data = errors.fileHandleForReading.availableData
            if data.isEmpty { return false }
            errorText += String(decoding: data, as: UTF8.self)
        }
        return true
    }

    /// Waits for the end.
    func end() -> Ended {
        while true {
            let data = errors.fileHandleForReading.availableData
            if data.isEmpty { break }
            errorText += String(decoding: data, as: UTF8.self)
        }
        process.waitUntilExit()
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return Ended(
            status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal, output: text,
            errors: errorText)
    }

    struct Ended {
        var status: Int32
        var wasKilled: Bool
        var output: String
        var errors: String

        /// Standard output as one JSON object.
        func json() throws -> [String: Any] {
            try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] ?? [:]
        }
    }
}

/// A folder of one test's own, gone with it.
final class TestPlace: Sendable {
    private let folder: TemporaryFolder
    var path: String { folder.path }

    init() throws { folder = try TemporaryFolder() }

    /// Runs `bgrun` to its end.
    func bgrun(_ arguments: String..., environment: [String: String] = [:]) throws -> CommandRun.Ended {
        try CommandRun(arguments, in: self, environment: environment).end()
    }

    /// Puts a picture at a path below this folder.
    func put(_ photo: String, at path: String) throws {
        let target = self.path + "/" + path
        try FileManager.default.createDirectory(
            atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: photo, toPath: target)
    }

    func write(_ text: String, to path: String) throws { try folder.write(text, to: path) }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: self.path + "/" + path) }

    /// Every file below a folder with its bytes, hidden ones too.
    func contents(_ folder: String) throws -> [String: Data] {
        let root = path + "/" + folder
        var contents: [String: Data] = [:]
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? [] {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: root + "/" + name, isDirectory: &isFolder)
            if !isFolder.boolValue { contents[name] = try Data(contentsOf: URL(fileURLWithPath: root + "/" + name)) }
        }
        return contents
    }
}
