/// A graph with what its file says about it.
package struct Model: Sendable {
    package var graph: Graph
    /// Version of the operators by domain; the standard's own domain is the empty name.
    package var opsets: [String: Int]
    package var producer: String
    /// Files that data was read from, relative to the model's folder.
    package var dataFiles: [String]

    package init(graph: Graph, opsets: [String: Int], producer: String = "", dataFiles: [String] = []) {
        self.graph = graph
        self.opsets = opsets
        self.producer = producer
        self.dataFiles = dataFiles
    }
}
