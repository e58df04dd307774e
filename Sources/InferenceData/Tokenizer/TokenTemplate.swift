/// What is put around the tokens of a text, e.g. `[CLS] ... [SEP]`.
struct TokenTemplate: Hashable, Sendable {
    enum Piece: Hashable, Sendable {
        case special(ids: [Int], typeID: Int)
        case text(typeID: Int)
    }

    var pieces: [Piece] = [.text(typeID: 0)]

    /// Special tokens that a text gets.
    var addedCount: Int {
        pieces.reduce(0) { count, piece in
            if case .special(let ids, _) = piece { count + ids.count } else { count }
        }
    }

    func applied(to text: [Int]) -> Tokenizer.Encoding {
        var encoding = Tokenizer.Encoding(ids: [], typeIDs: [])
        for piece in pieces {
            let (ids, typeID) =
                switch piece {
                case .special(let ids, let typeID): (ids, typeID)
                case .text(let typeID): (text, typeID)
                }
            encoding.ids += ids
            encoding.typeIDs += [Int](repeating: typeID, count: ids.count)
        }
        return encoding
    }
}
