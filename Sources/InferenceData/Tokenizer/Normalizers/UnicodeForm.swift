import Foundation

/// Normalisation forms of Unicode (UAX #15).
enum UnicodeForm: String, Sendable {
    case nfc = "NFC"
    case nfd = "NFD"
    case nfkc = "NFKC"
    case nfkd = "NFKD"

    func applied(to text: [Unicode.Scalar]) -> [Unicode.Scalar] {
        // Nothing below is changed by any form.
        guard text.contains(where: { $0.value >= 0xA0 }) else { return text }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: text)
        let string = String(view)
        let result =
            switch self {
            case .nfc: string.precomposedStringWithCanonicalMapping
            case .nfd: string.decomposedStringWithCanonicalMapping
            case .nfkc: string.precomposedStringWithCompatibilityMapping
            case .nfkd: string.decomposedStringWithCompatibilityMapping
            }
        return Array(result.unicodeScalars)
    }
}
