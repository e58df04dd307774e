import TaskStore

/// What a plan asks of the journal, where there is one.
struct JournalReader {
    /// What is known about paths; paths that no job ever had are absent.
    var known: ([String]) throws(StoreError) -> [PathKey: KnownOutput]
    /// Whether anything may be known about a path in a folder or below it.
    var knowsOf: (_ folder: String) throws(StoreError) -> Bool

    init(_ store: TaskStore) {
        known = store.known
        knowsOf = store.knowsOutputs(below:)
    }

    /// Without a journal nothing is known.
    static var empty: JournalReader {
        JournalReader(known: { _ in [:] }, knowsOf: { _ in false })
    }

    private init(
        known: @escaping ([String]) throws(StoreError) -> [PathKey: KnownOutput],
        knowsOf: @escaping (String) throws(StoreError) -> Bool
    ) {
        self.known = known
        self.knowsOf = knowsOf
    }
}
