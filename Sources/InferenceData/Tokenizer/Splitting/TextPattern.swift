import Foundation

/// What a file of a tokenizer looks for in text.
enum TextPattern: Sendable {
    case literal([Unicode.Scalar])
    case expression(NSRegularExpression)

    /// - Throws: `unsupported` for an expression that is none here.
    init(expression: String) throws(DataError) {
        do {
            self = .expression(try NSRegularExpression(pattern: expression))
        } catch {
            throw .unsupported(["the regular expression \"\(expression.prefix(80))\""])
        }
    }

    /// Places that do not overlap, in their order.
    func matches(in text: [Unicode.Scalar]) -> [Range<Int>] {
        switch self {
        case .literal(let word):
            guard let first = word.first else { return [] }
            var matches: [Range<Int>] = []
            var place = 0
            while place + word.count <= text.count {
                if text[place] == first, text[place..<(place + word.count)].elementsEqual(word) {
                    matches.append(place..<(place + word.count))
                    place += word.count
                } else {
                    place += 1
                }
            }
            return matches
        case .expression(let expression):
            var view = String.UnicodeScalarView()
            view.append(contentsOf: text)
            // Numbers of code points by those of UTF-16 units.
            var places: [Int] = []
            places.reserveCapacity(text.count + 1)
            for (place, scalar) in text.enumerated() {
                places.append(place)
                if scalar.value > 0xFFFF { places.append(place) }
            }
            places.append(text.count)
            let whole = NSRange(location: 0, length: places.count - 1)
            return expression.matches(in: String(view), range: whole).map { match in
                places[match.range.location]..<places[match.range.location + match.range.length]
            }
        }
    }
}
