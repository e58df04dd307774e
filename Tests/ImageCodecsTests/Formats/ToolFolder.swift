import Foundation
import ImageCodecs
import TemporaryFolders
import Testing

/// A folder for files, and programs to make and look at them; the folder is gone with it.
final class ToolFolder {
    private let folder: TemporaryFolder

    static func has(_ program: String) -> Bool { path(of: program) != nil }

    private static func path(of program: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/"].map { $0 + program }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    init() throws { folder = try TemporaryFolder() }

    func path(_ name: String) -> URL { folder.url.appending(path: name) }

    func write(_ file: [UInt8], as name: String) throws -> String {
        try Data(file).write(to: path(name))
        return path(name).path
    }

    func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: path(name))) }

    /// What the program prints. A program that is missing or fails fails the test.
    @discardableResult
    func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(
            filePath: try #require(ToolFolder.path(of: program), "scripts/test.sh installs \(program)"))
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program) \(arguments.joined(separator: " "))")
        return String(decoding: text, as: UTF8.self)
    }
}

extension ToolFolder {
    /// A picture as `heif-enc` codes it.
    func hevc(_ picture: Picture) throws -> HEIFWriter.Coded {
        let input = try write(try encoded(picture, as: .png), as: "in.png")
        try run("heif-enc", ["-q", "90", "-p", "chroma=444", "-o", path("coded.heic").path, input])
        return try #require(HEIFWriter.Coded(try read("coded.heic")))
    }
}
