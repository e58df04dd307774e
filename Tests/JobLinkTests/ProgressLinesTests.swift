import JobLink
import TaskModel
import Testing

/// What a command says of its progress, line by line.
@Suite struct ProgressLinesTests {
    private func reports(_ pieces: String...) -> [String] {
        var lines = ProgressLines()
        return pieces.flatMap { lines.take(Array($0.utf8)) }.map { report in
            switch report {
            case .progress(let progress, _): "\(progress.itemsDone)/\(progress.itemsTotal) \(progress.fraction)"
            case .phase(let text): "phase \(text)"
            case .note(let text): "note \(text)"
            default: "other"
            }
        }
    }

    @Test func everyKindOfLineIsUnderstood() {
        #expect(
            reports("progress 12 100\nprogress 7\nphase loading model\nnote 3 files skipped\n")
                == ["12/100 0.12", "7/0 0.0", "phase loading model", "note 3 files skipped"])
    }

    @Test func linesMayComeInPieces() {
        #expect(reports("prog", "ress 1", " 4\nnote a", "", " b\n") == ["1/4 0.25", "note a b"])
    }

    @Test(arguments: [
        "progress\n", "progress x 4\n", "progress 1 0\n", "progress -1 4\n", "progress nan 4\n", "progress 1e300 4\n",
        "progress 1 inf\n", "hello world\n", "\n", "progress 1 4",
    ])
    func whatIsNoLineOfItIsPassedOver(text: String) {
        #expect(reports(text).isEmpty)
    }

    @Test func aLineWithoutEndTakesNoMemoryAndTheNextOneCounts() {
        #expect(reports(String(repeating: "x", count: 1 << 20), "\nprogress 1 2\n") == ["1/2 0.5"])
    }

    @Test func moreThanAllIsAll() {
        #expect(reports("progress 9 4\n") == ["9/4 1.0"])
    }
}
