import Foundation
import Glibc
import ResourceProbe
import Testing

/// The built `bgrun`, and the misbehaving drivers compiled from `Tests/Drivers`.
enum Fixture {
    /// Compiled once for all tests of this process.
    private static let built = Result { try buildDrivers() }

    static func drivers() throws -> String { try built.get() }

    static func library(_ name: String) throws -> String { "\(try drivers())/lib\(name).so" }

    private static func buildDrivers() throws -> String {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = try TemporaryFolder.make()
        let result = try run(package.appendingPathComponent("scripts/build-test-drivers.sh").path, [folder], [:])
        try #require(result.status == 0, "\(result.errors)")
        return folder
    }

    /// `bgrun` lies beside the bundle of tests.
    static func bgrun() throws -> String {
        let bundle = try #require(
            CommandLine.arguments.first { $0.hasSuffix(".xctest") }
                ?? (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")))
        let path = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("bgrun").path
        try #require(FileManager.default.isExecutableFile(atPath: path), "bgrun is not built at \(path)")
        return path
    }

    /// Options whose only driver is the one that `vendors` leads to. The deadline is for a loaded machine; a driver that
    /// hangs never meets it.
    static func options(vendors: String, more: [String: String] = [:]) throws -> ProbeOptions {
        var environment = ProcessInfo.processInfo.environment
        environment["OCL_ICD_VENDORS"] = vendors
        // The language runtime's crash handler must not get between a driver's crash and its report.
        environment["SWIFT_BACKTRACE"] = "enable=yes"
        environment.merge(more) { $1 }
        var options = ProbeOptions(environment: environment)
        options.helper = try bgrun()
        options.stepDeadline = .seconds(60)
        options.totalDeadline = .seconds(120)
        return options
    }

    struct Output {
        var status: Int32
        var text: String
        var errors: String
    }

    static func run(_ program: String, _ arguments: [String], _ environment: [String: String]) throws -> Output {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let errors = "\(try TemporaryFolder.make())/errors"
        try #require(FileManager.default.createFile(atPath: errors, contents: nil))
        let errorFile = try #require(FileHandle(forWritingAtPath: errors))
        let output = Pipe()
        process.standardOutput = output
        process.standardError = errorFile
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Output(
            status: process.terminationStatus, text: String(decoding: text, as: UTF8.self),
            errors: try String(contentsOfFile: errors, encoding: .utf8))
    }
}

/// Folders that go away with the process of the tests.
enum TemporaryFolder {
    private static let root: String = {
        atexit { try? FileManager.default.removeItem(atPath: "/tmp/bgrun-probe-\(getpid())") }
        return "/tmp/bgrun-probe-\(getpid())"
    }()

    static func make() throws -> String {
        let path = "\(root)/\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// A folder with these files; a name may hold further folders.
    static func make(_ files: [String: String]) throws -> String {
        let path = try make()
        for (name, content) in files {
            let file = URL(fileURLWithPath: "\(path)/\(name)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(content.utf8).write(to: file)
        }
        return path
    }
}
