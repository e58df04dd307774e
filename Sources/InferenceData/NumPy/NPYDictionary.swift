/// The Python literal in a .npy header: a dictionary with the keys `descr`, `fortran_order` and `shape`, each once.
struct NPYDictionary {
    private(set) var descriptor = ""
    private(set) var isFortranOrder = false
    private(set) var shape: [Int] = []

    private var rest: Substring.UTF8View

    /// - Throws: `damaged` with what is wrong, `unsupported` for structured types, whose `descr` is a list.
    init(_ text: String) throws(DataError) {
        rest = text[...].utf8
        var seen: Set<String> = []
        try expect("{")
        while !skip("}") {
            let key = try string()
            guard seen.insert(key).inserted else { throw .damaged("The .npy header names \"\(key)\" twice.") }
            try expect(":")
            switch key {
            case "descr":
                if skip("[") { throw .unsupported(["arrays of structures"]) }
                descriptor = try string()
            case "fortran_order": isFortranOrder = try flag()
            case "shape": shape = try tuple()
            default: throw .damaged("The .npy header has the key \"\(key.prefix(40))\", which no version of it has.")
            }
            if skip(",") { continue }
            try expect("}")
            break
        }
        skipBlanks()
        guard rest.isEmpty else { throw .damaged("The .npy header goes on behind its end.") }
        for key in ["descr", "fortran_order", "shape"] where !seen.contains(key) {
            throw .damaged("The .npy header has no \"\(key)\".")
        }
    }

    private mutating func skipBlanks() {
        while let byte = rest.first, byte == 0x20 || (0x09...0x0D).contains(byte) { rest.removeFirst() }
    }

    private mutating func skip(_ word: String) -> Bool {
        skipBlanks()
        guard rest.starts(with: word.utf8) else { return false }
        rest.removeFirst(word.utf8.count)
        return true
    }

    private mutating func expect(_ word: String) throws(DataError) {
        guard skip(word) else { throw .damaged("The .npy header lacks a \"\(word)\".") }
    }

    private mutating func string() throws(DataError) -> String {
        skipBlanks()
        guard let quote = rest.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
            throw .damaged("The .npy header lacks a quoted word.")
        }
        rest.removeFirst()
        guard let end = rest.firstIndex(of: quote), let word = String(rest[..<end]), !word.contains("\\") else {
            throw .damaged("A quoted word of the .npy header does not end.")
        }
        rest = rest[rest.index(after: end)...]
        return word
    }

    private mutating func flag() throws(DataError) -> Bool {
        if skip("True") { return true }
        try expect("False")
        return false
    }

    private mutating func tuple() throws(DataError) -> [Int] {
        try expect("(")
        var extents: [Int] = []
        while !skip(")") {
            extents.append(try number())
            guard extents.count <= 64 else { throw .damaged("The .npy header has more than 64 axes.") }
            let goesOn = skip(",")
            if goesOn { continue }
            guard extents.count != 1 else { throw .damaged("The shape in the .npy header is no tuple.") }
            try expect(")")
            break
        }
        return extents
    }

    private mutating func number() throws(DataError) -> Int {
        skipBlanks()
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty else { throw .damaged("The shape in the .npy header has an extent that is no number.") }
        var value = 0
        for digit in digits {
            let (tens, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) = tens.addingReportingOverflow(Int(digit) - 0x30)
            if first || second { throw .tooLarge("The shape in the .npy header has an extent that cannot be counted.") }
            value = sum
        }
        rest = rest.dropFirst(digits.count)
        // Python 2 wrote long integers so.
        _ = rest.first == UInt8(ascii: "L") && rest.popFirst() != nil
        return value
    }
}
