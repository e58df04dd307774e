import SeededNumbers

extension SeededGenerator {
    mutating func below(_ bound: Int) -> Int { bound > 0 ? Int(next() % UInt64(bound)) : 0 }

    mutating func one<Element>(of list: [Element]) -> Element? { list.isEmpty ? nil : list[below(list.count)] }
}
