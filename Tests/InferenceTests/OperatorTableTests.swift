import Foundation
import Inference
import Testing

/// `OPERATORS.md` lists what is implemented, as the code has it.
@Suite struct OperatorTableTests {
    private static let table = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "OPERATORS.md")

    @Test func theListOfOperatorsIsUpToDate() throws {
        let made = Self.markdown
        if ProcessInfo.processInfo.environment["BGRUN_WRITE_RULES"] != nil { try Data(made.utf8).write(to: Self.table) }
        #expect(
            try String(contentsOf: Self.table, encoding: .utf8) == made,
            "run BGRUN_WRITE_RULES=1 swift test -c release --filter OperatorTableTests and commit OPERATORS.md")
        #expect(Operators.all.count >= 120)
    }

    private static var markdown: String {
        var lines = [
            "# Operators that are implemented", "",
            "Made by `BGRUN_WRITE_RULES=1 swift test -c release --filter OperatorTableTests` of the code; without the",
            "variable the test compares. Versions are those in which the operator changed, as far as they are known here; each",
            "holds until the next, the last up to \(Operators.newestOpset). Whether they are right, case by case:"
                + " [CONFORMANCE.md](CONFORMANCE.md).", "",
            "| Operator | Versions | Inputs | Element types of the first |", "|---|---|---|---|",
        ]
        for one in Operators.all.sorted(by: { ($0.domain, $0.name) < ($1.domain, $1.name) }) {
            let name = one.domain.isEmpty ? one.name : "\(one.domain).\(one.name)"
            let versions = one.versions.map(String.init).joined(separator: ", ")
            let (fewest, most) = (one.inputs.lowerBound, one.inputs.upperBound)
            let inputs = most > 100 ? "\(fewest) or more" : fewest == most ? "\(fewest)" : "\(fewest) to \(most)"
            lines.append("| \(name) | \(versions) | \(inputs) | \(one.types.first.map { words($0.types) } ?? "-") |")
        }
        lines += [
            "",
            "Resize with `align_corners` and a scale that gives no whole extent lays the last elements on each other, as the",
            "standard's text, ONNX Runtime and PyTorch have it, where exporters take it from; the standard's own cases take the",
            "extent of before it was cut off, and are failed (CONFORMANCE.md).",
        ]
        lines += ["", "Put together of others when a model is read, as the standard defines them:"]
        lines += Operators.composed.sorted { $0.key < $1.key }.map { "\($0.key) of version \($0.value)." }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func words(_ types: Set<ElementType>) -> String {
        let all = Set(ElementType.allCases)
        let named: [(Set<ElementType>, String)] = [
            (all, "all"), (all.subtracting([.string]), "all but strings"),
            (all.filter { $0.isFloat || $0.isInteger }, "numbers"), (all.filter(\.isFloat), "floats"),
            (all.filter(\.isInteger), "integers"),
        ]
        if let (_, name) = named.first(where: { $0.0 == types }) { return name }
        return types.map(\.rawValue).sorted().joined(separator: ", ")
    }
}
