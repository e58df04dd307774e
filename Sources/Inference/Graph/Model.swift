/// A graph with what its file says about it.
package struct Model: Sendable {
    package var graph: Graph
    /// Version of the operators by domain; the standard's own domain is the empty name.
    package var opsets: [String: Int]
    package var producer: String
    /// Files that data was read from, relative to the model's folder.
    package var dataFiles: [String]
    /// What became of reading weights that were left in their files; nil where none were.
    let deferredReads: DeferredReads?

    package init(graph: Graph, opsets: [String: Int], producer: String = "", dataFiles: [String] = []) {
        self.init(graph: graph, opsets: opsets, producer: producer, dataFiles: dataFiles, deferredReads: nil)
    }

    init(
        graph: Graph, opsets: [String: Int], producer: String, dataFiles: [String], deferredReads: DeferredReads?
    ) {
        self.deferredReads = deferredReads
        self.graph = graph
        self.opsets = opsets
        self.producer = producer
        self.dataFiles = dataFiles
    }
}
