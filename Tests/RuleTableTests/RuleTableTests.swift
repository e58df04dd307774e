import Foundation
import Testing

/// Keeps `Tests/RULES.md` true: it is made from the names of the tests.
@Suite struct RuleTableTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    private static let table = tests.appending(path: "RULES.md")

    @Test func everyRuleHasATest() throws {
        let proofs = try Self.proofs()
        let bare = Rules.ours.filter { proofs["rule \($0.number)"] == nil }.map { "rule \($0.number)" }
        let bareRows = Rules.apples.filter { $0.absent == nil && proofs["A\($0.number)"] == nil }.map {
            "A\($0.number)"
        }
        #expect(bare + bareRows == [])
    }

    @Test func noTestNamesARuleThatDoesNotExist() throws {
        let known = Set(Rules.ours.map { "rule \($0.number)" } + Rules.apples.map { "A\($0.number)" })
        // The sections on durability and accounting are proved by tests too, and listed when they are complete.
        let later = Set(([36, 93] + Array(81...86) + [96, 97]).map { "rule \($0)" })
        #expect(Set(try Self.proofs().keys).subtracting(known).subtracting(later) == [])
    }

    @Test func theTableInTheDocumentationIsUpToDate() throws {
        let made = try Self.markdown()
        if ProcessInfo.processInfo.environment["BGRUN_WRITE_RULES"] != nil {
            try Data(made.utf8).write(to: Self.table)
        }
        let written = try String(contentsOf: Self.table, encoding: .utf8)
        #expect(
            written == made,
            "run BGRUN_WRITE_RULES=1 swift test -c release --filter RuleTableTests and commit Tests/RULES.md")
    }

    // MARK: Reading the tests

    private struct Proof: Hashable {
        var title: String
        /// Path below the folder of the tests.
        var file: String
    }

    /// Tests by what they prove, e.g. "rule 42" or "A7", as their names begin.
    private static func proofs() throws -> [String: [Proof]] {
        let name = /@Test\(\s*"((?:[^"\\]|\\.)+)"/
        let marked = /^((?:rule \d+|A\d+)(?:, (?:rule \d+|A\d+))*): (.+)$/
        var proofs: [String: [Proof]] = [:]
        for file in try sources() {
            let text = try String(contentsOf: tests.appending(path: file), encoding: .utf8)
            for match in text.matches(of: name) {
                guard let parts = try marked.wholeMatch(in: match.output.1) else { continue }
                for mark in parts.output.1.split(separator: ", ") {
                    proofs[String(mark), default: []].append(Proof(title: String(parts.output.2), file: file))
                }
            }
        }
        return proofs
    }

    private static func sources() throws -> [String] {
        let all = try FileManager.default.subpathsOfDirectory(atPath: tests.path(percentEncoded: false))
        return all.filter { $0.hasSuffix(".swift") && !$0.hasPrefix("RuleTableTests/") }.sorted()
    }

    private static func markdown() throws -> String {
        let proofs = try proofs()
        var text = """
            # What the scheduler promises, and the tests that prove it

            Made from the names of the tests; `swift test -c release --filter RuleTableTests` checks it.

            ## Rules

            | Rule | Subject | Tests |
            |---|---|---|

            """
        for rule in Rules.ours {
            text += "| \(rule.number) | \(rule.subject) | \(cell(proofs["rule \(rule.number)"])) |\n"
        }
        text += """

            ## Behaviour taken over from Apple's BackgroundTasks

            | Row | Subject | Tests |
            |---|---|---|

            """
        for row in Rules.apples {
            let tests = row.absent.map { "none: \($0)" } ?? cell(proofs["A\(row.number)"])
            text += "| A\(row.number) | \(row.subject) | \(tests) |\n"
        }
        return text
    }

    private static func cell(_ proofs: [Proof]?) -> String {
        (proofs ?? []).map { "\($0.title.replacing("|", with: "\\|")) ([\(name(of: $0.file))](\($0.file)))" }
            .joined(separator: "<br>")
    }

    private static func name(of file: String) -> Substring {
        (file.split(separator: "/").last ?? "").dropLast(".swift".count)
    }
}
