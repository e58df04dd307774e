/// Classes of code points as the library "tokenizers" (0.23) tells them apart, whose tables are older than the system's:
/// compared for every code point, about ten differ, whose category was changed.
extension Unicode.Scalar {
    var isLetter: Bool {
        if isASCII { return (0x41...0x5A).contains(value & 0xDF) }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return true
        default: return false
        }
    }

    var isNumber: Bool {
        if isASCII { return (0x30...0x39).contains(value) }
        switch properties.generalCategory {
        case .decimalNumber, .letterNumber, .otherNumber: return true
        default: return false
        }
    }

    var isBlank: Bool {
        isASCII ? value == 0x20 || (0x09...0x0D).contains(value) : properties.isWhitespace
    }

    /// What a regular expression means by `\w`: alphabetic, marks, decimal digits, connectors, joiners (UTS #18, annex C).
    var isWordCharacter: Bool {
        if isASCII { return (0x41...0x5A).contains(value & 0xDF) || (0x30...0x39).contains(value) || value == 0x5F }
        if properties.isAlphabetic || properties.isJoinControl { return true }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation: return true
        default: return false
        }
    }

    /// Whether a version of Unicode has the code point.
    private func isAssigned(by version: Int) -> Bool { (properties.age?.major ?? .max) <= version }

    /// Categories P of Unicode 8, and in ASCII the symbols too.
    var isPunctuationOrASCIISymbol: Bool {
        if isASCII {
            return (0x21...0x2F).contains(value) || (0x3A...0x40).contains(value) || (0x5B...0x60).contains(value)
                || (0x7B...0x7E).contains(value)
        }
        switch properties.generalCategory {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            return isAssigned(by: 8)
        default: return false
        }
    }

    /// Control and format characters and those of private use in Unicode 8, but for tab, line feed and carriage return.
    var isControl: Bool {
        if isASCII { return (value < 0x20 && value != 0x09 && value != 0x0A && value != 0x0D) || value == 0x7F }
        switch properties.generalCategory {
        case .control, .format, .privateUse: return isAssigned(by: 8)
        default: return false
        }
    }

    /// Categories M of Unicode 9.
    var isMark: Bool {
        guard value >= 0x300 else { return false }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return isAssigned(by: 9)
        default: return false
        }
    }

    /// Category Mn of Unicode 8.
    var isNonspacingMark: Bool {
        value >= 0x300 && properties.generalCategory == .nonspacingMark && isAssigned(by: 8)
    }

    /// The blocks of unified and compatibility ideographs, which BERT takes for words of one letter.
    var isIdeograph: Bool {
        guard value >= 0x3400 else { return false }
        return Self.ideographs.contains { $0.contains(value) }
    }

    private static let ideographs: [ClosedRange<UInt32>] = [
        0x4E00...0x9FFF, 0x3400...0x4DBF, 0x20000...0x2A6DF, 0x2A700...0x2B73F, 0x2B740...0x2B81F, 0x2B920...0x2CEAF,
        0xF900...0xFAFF, 0x2F800...0x2FA1F,
    ]
}
