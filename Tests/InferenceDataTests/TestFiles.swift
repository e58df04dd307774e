import Foundation
import InferenceData
import Testing

/// A nameless file with some bytes, open for reading and writing, which goes away with the test.
final class TestFile {
    let descriptor: Int32

    init(_ bytes: some Sequence<UInt8> = []) throws {
        var path = Array((NSTemporaryDirectory() + "/bgrun-data-XXXXXX").utf8CString)
        descriptor = mkstemp(&path)
        try #require(descriptor >= 0)
        unlink(path)
        let bytes = Array(bytes)
        try #require(pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
    }

    deinit { close(descriptor) }

    func end(at byteCount: Int) throws { try #require(ftruncate(descriptor, off_t(byteCount)) == 0) }

    func open() throws -> OpenFile { try OpenFile(descriptor: descriptor) }

    var bytes: [UInt8] {
        get throws {
            let count = try open().byteCount
            var bytes = [UInt8](repeating: 0, count: count)
            try #require(pread(descriptor, &bytes, count, 0) == count)
            return bytes
        }
    }
}

enum Fixture {
    static func bytes(_ name: String, in folder: String) throws -> [UInt8] {
        let path = try #require(
            Bundle.module.path(forResource: name, ofType: nil, inDirectory: "Fixtures/\(folder)"), "\(name) is missing")
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    static func file(_ name: String, in folder: String) throws -> TestFile { try TestFile(bytes(name, in: folder)) }
}

/// The error of some work that has to fail with one.
func dataError<Result>(_ body: () throws(DataError) -> Result) -> DataError? {
    do throws(DataError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}
