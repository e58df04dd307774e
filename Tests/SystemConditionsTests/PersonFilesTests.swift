import Foundation
import SystemConditions
import TaskModel
import TemporaryFolders
import Testing

/// The files by which a person decides for all of their programs.
@Suite struct PersonFilesTests {
    private let folder: TemporaryFolder
    private var files: PersonFiles { PersonFiles(folder: folder.path) }

    init() throws { folder = try TemporaryFolder() }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    @Test("rule 51: quiet hours and prices of the person's files are those of all programs")
    func hours() throws {
        #expect(try files.allowedHours() == AllowedHours())
        try write("22:00-07:00, 12:00-13:00\n", to: files.quietHours)
        #expect(try files.allowedHours().quietHours.count == 2)
        try write(
            #"[{"start": "2026-03-01T00:00:00Z", "end": "2026-03-01T01:00:00Z", "value": 31.5}]"#, to: files.prices)
        try write("30", to: files.priceLimit)
        #expect(try files.allowedHours().prices?.blocked.count == 1)
    }

    @Test("rule 51: files that cannot be used are refused with a reason")
    func mistakes() throws {
        try write("late", to: files.quietHours)
        #expect(throws: AllowedHoursError.self) { try files.allowedHours() }
        try write("", to: files.quietHours)
        try write("[]", to: files.prices)
        let error = #expect(throws: AllowedHoursError.self) { try files.allowedHours() }
        #expect(error?.diagnostic.fix.contains(files.priceLimit) == true)
    }

    @Test func theFolderIsThatOfTheEnvironment() {
        #expect(PersonFiles(environment: ["XDG_CONFIG_HOME": "/c", "HOME": "/h"])?.folder == "/c/bgrun")
        #expect(PersonFiles(environment: ["HOME": "/h"])?.folder == "/h/.config/bgrun")
        #expect(PersonFiles(environment: [:]) == nil)
    }
}
