import CDispatch  // The headers of `stat` belong to the module that is loaded first.
import Foundation
import Glibc
import Testing

/// What is read before a worker asks for it.
@Suite struct ReadAheadTests {
    private let place: TestPlace

    init() throws {
        place = try TestPlace()
    }

    /// Which of a file's pages are in memory; looking reads none.
    private static func pagesInMemory(_ path: String) throws -> [Bool] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var status = stat()
        try #require(file >= 0 && fstat(file, &status) == 0)
        let size = Int(status.st_size)
        let place = try #require(mmap(nil, size, PROT_READ, MAP_SHARED, file, 0))
        try #require(place != MAP_FAILED)
        defer { munmap(place, size) }
        let page = sysconf(Int32(_SC_PAGESIZE))
        var pages = [UInt8](repeating: 0, count: (size + page - 1) / page)
        try #require(mincore(place, size, &pages) == 0)
        return pages.map { $0 & 1 != 0 }
    }

    /// - Returns: Whether none of its pages is in memory; what lives there alone stays.
    private static func letGo(of path: String) throws -> Bool {
        let file = open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        try #require(fsync(file) == 0)
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
        return try !pagesInMemory(path).contains(true)
    }

    private static var filesCanBeLetGo: Bool {
        guard let place = try? TestPlace(), (try? place.write("bytes", to: "file")) != nil else { return false }
        return (try? letGo(of: place.path + "/file")) ?? false
    }

    @Test(.enabled(if: filesCanBeLetGo, "files for temporary use live in memory"), .timeLimit(.minutes(1)))
    func theNextInputsAreReadWhileAWorkerIsBusy() throws {
        try place.putPhotos(6, from: Photos.large)
        let photos = (1...6).map { place.path + "/photos/photo-000\($0).jpg" }
        for photo in photos { try #require(try Self.letGo(of: photo)) }
        let run = try CommandRun(
            ["export", "photos", "--out", "out", "--size", "100", "--workers", "1", "--stall-limit", "5s"], in: place,
            environment: ["BGRUN_TEST_HANG_ON": "photo-0001"])
        while try photos[1...2].contains(where: { try Self.pagesInMemory($0).contains(false) }) { usleep(10_000) }
        #expect(try place.contents("out").isEmpty, "the worker was to hang meanwhile")
        #expect(try !Self.pagesInMemory(photos[5]).contains(true))
        let ended = run.end()
        #expect(ended.status == 65, "\(ended.errors)")
        #expect(try place.contents("out").count == 5)
    }
}
