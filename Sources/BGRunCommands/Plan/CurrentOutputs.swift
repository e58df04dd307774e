import TaskStore

/// Outputs that are there already and stay, in some eighty bytes each.
struct CurrentOutputs: Sendable {
    private struct Row: Sendable {
        var number: UInt32
        var width: Int32
        var height: Int32
        var bytes: Int64
        var checksum: Digest
        var inputChecksum: Digest
    }

    /// A checksum of 32 hexadecimal digits, or what is no such checksum.
    private enum Digest: Sendable {
        case number(UInt64, UInt64)
        case text(String)

        init(_ text: String) {
            guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
                let low = UInt64(text.suffix(16), radix: 16)
            else {
                self = .text(text)
                return
            }
            let number = Digest.number(high, low)
            self = number.text == text ? number : .text(text)
        }

        var text: String {
            switch self {
            case .number(let high, let low): Self.digits(high) + Self.digits(low)
            case .text(let text): text
            }
        }

        private static func digits(_ number: UInt64) -> String {
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }
    }

    /// One of them, as the journal has it.
    struct Output {
        var width: Int
        var height: Int
        var bytes: Int
        var checksum: String
        var inputChecksum: String
        /// What was wrong with its input; nil where nothing was.
        var damage: String?
    }

    /// In order of their numbers.
    private var rows: [Row] = []
    private var damages: [UInt32: String] = [:]

    /// Adds an output whose number is higher than those before.
    mutating func append(_ number: Int, _ made: MadeRecord) {
        rows.append(
            Row(
                number: UInt32(number), width: Int32(clamping: made.output.width),
                height: Int32(clamping: made.output.height), bytes: made.output.identity.size,
                checksum: Digest(made.output.checksum), inputChecksum: Digest(made.inputChecksum)))
        if made.status == InputRecord.Status.damaged.rawValue { damages[UInt32(number)] = made.reason }
    }

    /// The output of a number; nil where it is none of them.
    subscript(number: Int) -> Output? {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < rows.count, rows[low].number == number else { return nil }
        let row = rows[low]
        return Output(
            width: Int(row.width), height: Int(row.height), bytes: Int(row.bytes), checksum: row.checksum.text,
            inputChecksum: row.inputChecksum.text, damage: damages[row.number])
    }
}
