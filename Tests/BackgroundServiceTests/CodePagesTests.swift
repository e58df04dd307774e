import CProcess
import Foundation
import Testing

@Suite struct CodePagesTests {
    @Test("Code that is given back leaves memory, and runs all the same")
    func givenBack() async {
        await #expect(processExitsWith: .success) {
            func residentFiles() -> Int? {
                let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
                let line = status?.split(separator: "\n").first { $0.hasPrefix("RssFile:") }
                return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
            }
            let before = residentFiles()
            let given = bg_give_back_code()
            guard let before, let after = residentFiles(), given > 1 << 20, after < before else { exit(1) }
            exit(0)
        }
    }
}
