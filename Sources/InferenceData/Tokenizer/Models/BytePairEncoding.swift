/// Neighbouring symbols are merged in the order in which the merges were learnt (Sennrich, Haddow and Birch, "Neural Machine
/// Translation of Rare Words with Subword Units", 2016).
struct BytePairEncoding: TokenModel {
    struct Pair: Hashable, Sendable {
        var left: Int32
        var right: Int32
    }

    struct Merge: Sendable {
        /// Lower ones come first.
        var rank: Int32
        var result: Int32
    }

    let vocabulary: Vocabulary
    let merges: [Pair: Merge]
    /// For symbols that are in no token; without it they are left out.
    let unknown: Int?
    /// Neighbouring unknown symbols are one.
    let fusesUnknown: Bool
    /// What the last symbol of a word ends with, e.g. `</w>`.
    let wordEnd: [UInt8]
    /// What symbols but the first begin with.
    let prefix: [UInt8]
    /// A word that is a token is not broken up.
    let ignoresMerges: Bool

    func id(_ token: String) -> Int? { vocabulary.id(token) }

    func append(_ word: ArraySlice<Unicode.Scalar>, to ids: inout [Int]) {
        guard !word.isEmpty else { return }
        let text = UTF8Text(word)
        if ignoresMerges, let id = vocabulary.id(text.all) {
            ids.append(id)
            return
        }
        var chain = SymbolChain(symbols(of: text))
        chain.merge(merges)
        chain.append(to: &ids)
    }

    private func symbols(of text: UTF8Text) -> [Int32] {
        var symbols: [Int32] = []
        symbols.reserveCapacity(text.count)
        var afterUnknown = false
        for index in 0..<text.count {
            var symbol = text[index..<(index + 1)]
            if index > 0, !prefix.isEmpty { symbol = (prefix + symbol)[...] }
            if index == text.count - 1, !wordEnd.isEmpty { symbol = (Array(symbol) + wordEnd)[...] }
            if let id = vocabulary.id(symbol) {
                symbols.append(Int32(id))
                afterUnknown = false
            } else if let unknown {
                if !(fusesUnknown && afterUnknown) { symbols.append(Int32(unknown)) }
                afterUnknown = true
            }
        }
        return symbols
    }
}

/// The symbols of one word, linked so that two become one in constant time.
private struct SymbolChain {
    private struct Candidate {
        var rank: Int32
        var place: Int32
        var result: Int32

        static func < (left: Candidate, right: Candidate) -> Bool {
            (left.rank, left.place) < (right.rank, right.place)
        }
    }

    private var symbols: [Int32]
    private var next: [Int32]
    private var previous: [Int32]
    /// A binary heap, the lowest in front.
    private var heap: [Candidate] = []

    init(_ symbols: [Int32]) {
        self.symbols = symbols
        next = symbols.indices.map { Int32($0 + 1 < symbols.count ? $0 + 1 : -1) }
        previous = symbols.indices.map { Int32($0 - 1) }
    }

    mutating func merge(_ merges: [BytePairEncoding.Pair: BytePairEncoding.Merge]) {
        for place in symbols.indices { offer(Int32(place), merges) }
        while let candidate = pop() {
            let place = Int(candidate.place)
            let right = next[place]
            // What was merged meanwhile is another pair, or none.
            guard symbols[place] >= 0, right >= 0,
                let merge = merges[.init(left: symbols[place], right: symbols[Int(right)])],
                merge.rank == candidate.rank, merge.result == candidate.result
            else { continue }
            symbols[place] = merge.result
            symbols[Int(right)] = -1
            let after = next[Int(right)]
            next[place] = after
            if after >= 0 { previous[Int(after)] = Int32(place) }
            offer(Int32(place), merges)
            if previous[place] >= 0 { offer(previous[place], merges) }
        }
    }

    func append(to ids: inout [Int]) {
        for symbol in symbols where symbol >= 0 { ids.append(Int(symbol)) }
    }

    private mutating func offer(_ place: Int32, _ merges: [BytePairEncoding.Pair: BytePairEncoding.Merge]) {
        let right = next[Int(place)]
        guard right >= 0,
            let merge = merges[.init(left: symbols[Int(place)], right: symbols[Int(right)])]
        else { return }
        heap.append(Candidate(rank: merge.rank, place: place, result: merge.result))
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() -> Candidate? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            if least == parent { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
