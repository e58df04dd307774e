/// Tokens and their numbers, told apart by their bytes.
struct Vocabulary: Sendable {
    private var pool: [UInt8] = []
    private var ends: [Int] = [0]
    private var ids: [Int32] = []
    /// Places of tokens by hash, -1 for none; twice as many as tokens, a power of two.
    private var table: [Int32] = []
    /// Bytes of the longest token.
    private(set) var longestToken = 0

    /// FNV-1a (Fowler, Noll, Vo), of which a longer text's hash goes on from that of its beginning.
    struct Hash {
        private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

        mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }

        mutating func add(_ bytes: some Sequence<UInt8>) { for byte in bytes { add(byte) } }
    }

    /// - Parameter tokens: Of tokens that are given twice the last number counts.
    init(_ tokens: [(token: String, id: Int)]) {
        var size = 16
        while size < tokens.count * 2 { size *= 2 }
        table = [Int32](repeating: -1, count: size)
        for (token, id) in tokens {
            var hash = Hash()
            hash.add(token.utf8)
            var token = token
            let place = token.withUTF8 { bytes in
                var slot = slot(of: hash)
                while table[slot] >= 0 {
                    if self.bytes(Int(table[slot])).elementsEqual(bytes) { break }
                    slot = (slot + 1) & (table.count - 1)
                }
                return slot
            }
            if table[place] >= 0 {
                ids[Int(table[place])] = Int32(id)
                continue
            }
            table[place] = Int32(ids.count)
            ids.append(Int32(id))
            pool.append(contentsOf: token.utf8)
            ends.append(pool.count)
            longestToken = max(longestToken, token.utf8.count)
        }
    }

    private func bytes(_ place: Int) -> ArraySlice<UInt8> { pool[ends[place]..<ends[place + 1]] }

    private func slot(of hash: Hash) -> Int {
        Int(truncatingIfNeeded: hash.value ^ (hash.value >> 32)) & (table.count - 1)
    }

    /// The number of the token that consists of two parts.
    ///
    /// - Parameters:
    ///   - first: Its beginning.
    ///   - second: Its rest.
    ///   - hash: Of both.
    /// - Returns: Nil where there is no such token.
    func id(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>, hash: Hash) -> Int? {
        var slot = slot(of: hash)
        while table[slot] >= 0 {
            let place = Int(table[slot])
            let start = ends[place]
            if ends[place + 1] - start == first.count + second.count,
                pool[start..<(start + first.count)].elementsEqual(first),
                pool[(start + first.count)..<ends[place + 1]].elementsEqual(second)
            {
                return Int(ids[place])
            }
            slot = (slot + 1) & (table.count - 1)
        }
        return nil
    }

    func id(_ bytes: ArraySlice<UInt8>) -> Int? {
        var hash = Hash()
        hash.add(bytes)
        return id(bytes, [], hash: hash)
    }

    func id(_ token: String) -> Int? { id(Array(token.utf8)[...]) }
}
