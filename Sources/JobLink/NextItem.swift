/// What a worker begins next, as it is told in an order of words that may be read late: an item given to it, or one that came
/// ahead, once there is the permit for it.
package final class NextItem<Item> {
    private let permit: BeginPermit
    private var given: Item?
    /// In the order in which they came: two where the end of an item, which the first of them was to follow, was heard of before
    /// this process read what it had been told.
    private var ahead: [Item] = []

    package init(_ permit: BeginPermit) { self.permit = permit }

    /// What becomes readable when the item ahead may begin; -1 where there is none.
    package var descriptor: Int32 { ahead.isEmpty ? -1 : permit.descriptor }

    /// It begins when the one in work has ended.
    package func give(_ item: Item) {
        precondition(given == nil, "an item was handed out beside another")
        given = item
    }

    /// It begins with a permit, which is given after this was sent.
    package func sendAhead(_ item: Item) {
        precondition(ahead.count < 2, "an item was handed out beside three others")
        ahead.append(item)
    }

    /// The item that came ahead last does not begin: its permit was taken back.
    ///
    /// - Returns: The item; nil where it had not arrived.
    package func withdraw() -> Item? {
        if let item = ahead.popLast() { return item }
        var item: Item?
        if given != nil {
            // It was about to begin with the permit of a later one.
            swap(&item, &given)
            permit.give()
        }
        return item
    }

    /// - Parameter hear: Reads the words that are there, which are meant for an item that begins.
    /// - Returns: The item to begin; nil where there is none yet.
    package func take(hear: () -> Void) -> Item? {
        while given == nil, !ahead.isEmpty, permit.take() {
            given = ahead.removeFirst()
            // Was it the permit of a later item, the word that takes this one back has arrived.
            hear()
        }
        defer { given = nil }
        return given
    }
}
