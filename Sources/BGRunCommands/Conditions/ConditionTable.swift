/// `bgrun conditions` for people.
struct ConditionTable {
    let rows: [ConditionRow]

    private var titleWidth: Int { (rows.map(\.title.count) + [9]).reduce(0, max) }
    private var textWidth: Int { (rows.map(\.text.count) + [5]).reduce(0, max) }

    /// A row a condition; under it the rule that it feeds.
    var text: String {
        let indent = String(repeating: " ", count: titleWidth + 2)
        let heading = "\(padded("CONDITION", titleWidth))  \(padded("VALUE", textWidth))  FROM\n"
        return heading
            + rows.map { row in
                "\(line(row))\(indent)\(row.rule): \(row.effect)\n"
            }.joined()
    }

    /// The rows that differ from earlier ones as they are shown.
    func changes(since before: [ConditionRow]) -> [ConditionRow] {
        zip(rows, before).filter { $0.text != $1.text || $0.source != $1.source }.map(\.0)
    }

    func line(_ row: ConditionRow) -> String {
        var origin = row.source ?? row.unknownBecause ?? ""
        if !row.note.isEmpty { origin += " (\(row.note))" }
        return "\(padded(row.title, titleWidth))  \(padded(row.text, textWidth))  \(origin)\n"
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
