import Foundation

/// One measured value beside what is wanted of it.
struct Figure: Codable, Sendable {
    var what: String
    var value: Double
    var unit: String
    /// The largest value that is good enough, or the smallest where ``isFloor`` says so; nil where nothing is wanted.
    var goal: Double?
    var isFloor = false
    /// Load average of the machine at that time.
    var load = ProcessUse.loadAverage

    var isMet: Bool? { goal.map { isFloor ? value >= $0 : value <= $0 } }
}

/// Figures as lines of text, or as JSON.
struct FigureTable {
    private(set) var figures: [Figure] = []

    mutating func add(_ what: String, _ value: Double, _ unit: String, goal: Double? = nil, isFloor: Bool = false) {
        figures.append(Figure(what: what, value: value, unit: unit, goal: goal, isFloor: isFloor))
    }

    func print(asJSON: Bool) throws {
        guard !asJSON else {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            return Swift.print(String(decoding: try encoder.encode(figures), as: UTF8.self))
        }
        let width = max(figures.map(\.what.count).max() ?? 0, 4)
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(width - text.count, 0))
        }
        Swift.print(padded("what", width) + "       value  unit            goal        load")
        for figure in figures {
            let goal = figure.goal.map { (figure.isFloor ? ">= " : "<= ") + decimal($0, digits: 3) } ?? ""
            let verdict = figure.isMet.map { $0 ? "PASS" : "FAIL" } ?? ""
            Swift.print(
                padded(figure.what, width), String(format: "%11.3f", figure.value) + " ", padded(figure.unit, 15),
                padded(goal, 11), decimal(figure.load), "", verdict)
        }
    }
}
