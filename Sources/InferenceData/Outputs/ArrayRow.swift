/// Where an input's results are in each of the arrays that a model's outputs became.
package struct ArrayRow: JSONLineResult {
    package var row: Int

    package init(row: Int) { self.row = row }

    package func jsonLine(for input: String) -> String { "{\"input\":\(JSONText.string(input)),\"row\":\(row)}" }
}
