import ImageExport

extension OutputSpec {
    private static let longestEdge = 1_000_000
    private static let widestBorder = 10_000

    static func crop(_ text: String) throws(Mistake) -> Crop {
        let shape = text.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
        let sides = 0.001...Double(longestEdge)
        if shape.count == 2, let width = shape[0], let height = shape[1], sides.contains(width), sides.contains(height),
            (0.01...100).contains(width / height)
        {
            return .aspect(width: width, height: height)
        }
        let numbers = text.split(omittingEmptySubsequences: false) { $0 == "x" || $0 == "+" }.map { Int($0) }
        guard numbers.count == 4, text.filter({ !$0.isNumber }) == "x++",
            numbers.allSatisfy({ ($0 ?? -1) >= 0 && ($0 ?? .max) <= longestEdge }),
            let width = numbers[0], let height = numbers[1], let x = numbers[2], let y = numbers[3], width > 0,
            height > 0
        else {
            throw Mistake(description: "a crop is WIDTHxHEIGHT+X+Y in pixels, or a shape such as 3:2, not \"\(text)\"")
        }
        return .box(width: width, height: height, x: x, y: y)
    }

    /// Quarter turns clockwise, and the degrees beside the nearest of them; nil for none.
    static func rotation(_ text: String) throws(Mistake) -> (turns: Int?, straighten: Double?) {
        guard let degrees = Double(text), abs(degrees) <= 360 else {
            throw Mistake(description: "rotate takes degrees clockwise, -360 to 360, e.g. 90 or -1.5, not \"\(text)\"")
        }
        let quarters = (degrees / 90).rounded()
        let turns = Int(quarters) & 3
        let rest = degrees - 90 * quarters
        return (turns == 0 ? nil : turns, rest == 0 ? nil : rest)
    }

    static func border(_ text: String) throws(Mistake) -> Border? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let pixels = Int(parts[0]), (0...widestBorder).contains(pixels) else {
            throw Mistake(description: "a border is 0 to \(widestBorder) pixels, or pixels:RRGGBB, not \"\(text)\"")
        }
        return pixels == 0
            ? nil : Border(pixels: pixels, color: parts.count == 2 ? try color("border", parts[1]) : [255, 255, 255])
    }
}
