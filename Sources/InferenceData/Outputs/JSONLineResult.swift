/// What a model says about one input, as a line of JSON.
package protocol JSONLineResult {
    /// One object without a line end, whose first key is `input`. Numbers are the shortest that read back as the same value;
    /// those that are not finite are null.
    func jsonLine(for input: String) -> String
}
