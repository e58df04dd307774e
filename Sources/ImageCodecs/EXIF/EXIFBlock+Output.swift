/// What EXIF says of colours.
package enum EXIFColor: Sendable {
    /// What it said, since they were not converted.
    case kept
    case srgb
    /// Neither sRGB nor Adobe RGB; the profile says which.
    case other
}

extension EXIFBlock {
    private static let orientation = 0x0112
    private static let colorSpace = 0xA001
    private static let interoperabilityIndex = 1
    /// Pixels of the output a unit of the sensor, across and down.
    private static let focalPlaneX = 0xA20E
    private static let focalPlaneY = 0xA20F
    /// A place in the picture: SubjectArea and SubjectLocation.
    private static let subjects = [0x9214, 0xA214]

    /// Makes it speak of an upright output of this size. Bytes that have nothing to do with that stay as they are, where they are.
    ///
    /// - Parameters:
    ///   - width: The output's, in pixels.
    ///   - height: The output's, in pixels.
    ///   - isTransposed: The input lies on its side, or is turned by a quarter.
    ///   - color: What it is to say of the colours.
    ///   - placement: Where the input's pixels are; nil where that is not known or has not changed.
    /// - Returns: Sentences on what was left out.
    mutating func adapt(
        width: Int, height: Int, isTransposed: Bool, color: EXIFColor, placement: PixelPlacement?
    ) -> [String] {
        var notes: [String] = []
        if dropThumbnails() { notes.append("the EXIF thumbnail was left out") }
        setNumber(Self.orientation, in: .first, to: 1)
        setNumber(0x0100, in: .first, to: width)
        setNumber(0x0101, in: .first, to: height)
        setNumber(0xA002, in: .camera, to: width)
        setNumber(0xA003, in: .camera, to: height)
        if isTransposed { exchange(0x011A, 0x011B, in: .first) }
        setColor(color)
        if let placement, !placement.isIdentity {
            // Some writers have one value for both.
            let isShared = ratio(Self.focalPlaneX, in: .camera) == ratio(Self.focalPlaneY, in: .camera)
            scale(Self.focalPlaneX, by: placement.scaleX)
            if !isShared { scale(Self.focalPlaneY, by: placement.scaleY) }
            if placement.isTransposed { exchange(Self.focalPlaneX, Self.focalPlaneY, in: .camera) }
            if !moveSubjects(placement) { notes.append("the subject's place was left out, as it is not in the output") }
        }
        return notes
    }

    /// Whether it marks its picture as Adobe RGB the way cameras do (DCF 2.0): interoperability index `R03`, and a colour space
    /// that is not sRGB.
    var isAdobeRGB: Bool {
        let space = slots(in: .camera, tag: Self.colorSpace).first
        return !(space?.type == 3 && space.flatMap(number) == 1) && hasIndex("R03")
    }

    private var index: Slot? {
        let slots = slots(in: .interoperability, tag: Self.interoperabilityIndex)
        return slots.first { $0.type == 2 && $0.value?.count ?? 0 >= 3 }
    }

    private func hasIndex(_ text: String) -> Bool {
        index?.value.map { bytes[$0].starts(with: text.utf8) } ?? false
    }

    private mutating func setColor(_ color: EXIFColor) {
        guard color != .kept else { return }
        setNumber(Self.colorSpace, in: .camera, to: color == .srgb ? 1 : 0xFFFF)
        guard hasIndex("R03"), let place = index?.value?.lowerBound else { return }
        if color == .srgb {
            write(Array("R98".utf8), at: place)
        } else {
            remove(in: .camera) { $0.tag == Self.interoperabilityPointer }
        }
    }

    /// A value of one ratio.
    private func ratio(_ tag: Int, in directory: Directory) -> Int? {
        slots(in: directory, tag: tag).first { $0.type == 5 && $0.count == 1 }?.value?.lowerBound
    }

    private mutating func exchange(_ first: Int, _ second: Int, in directory: Directory) {
        guard let a = ratio(first, in: directory), let b = ratio(second, in: directory), abs(a - b) >= 8 else { return }
        let (left, right) = (Array(bytes[a..<a + 8]), Array(bytes[b..<b + 8]))
        write(right, at: a)
        write(left, at: b)
    }

    private mutating func scale(_ tag: Int, by factor: Double) {
        guard factor != 1, let place = ratio(tag, in: .camera), let over = number(at: place, 4),
            let under = number(at: place + 4, 4), over > 0, under > 0,
            let scaled = Self.ratio(Double(over) * factor, Double(under))
        else { return }
        write(scaled.over, at: place, 4)
        write(scaled.under, at: place + 4, 4)
    }

    /// Whole numbers of 32 bits in that proportion, to six digits where there is room for them.
    static func ratio(_ over: Double, _ under: Double) -> (over: Int, under: Int)? {
        var (over, under) = (over, under)
        while over < 1e6, under < 1e8, over != over.rounded() { (over, under) = (over * 10, under * 10) }
        guard (1...Double(UInt32.max)).contains(over.rounded()), under <= Double(UInt32.max) else { return nil }
        return (Int(over.rounded()), Int(under))
    }

    /// - Returns: Whether all of them are in the output.
    private mutating func moveSubjects(_ placement: PixelPlacement) -> Bool {
        var areAllThere = true
        for tag in Self.subjects {
            for slot in slots(in: .camera, tag: tag) {
                let moved = slot.type == 3 ? Self.moved(numbers(of: slot), placement) : nil
                guard let value = slot.value, let moved else {
                    remove(in: .camera) { $0.tag == tag }
                    areAllThere = false
                    break
                }
                for (index, number) in moved.enumerated() { write(number, at: value.lowerBound + 2 * index, 2) }
            }
        }
        return areAllThere
    }

    /// A point, the middle of a circle with its diameter, or that of a rectangle with its sides (Exif 2.32, SubjectArea).
    private static func moved(_ numbers: [Int], _ placement: PixelPlacement) -> [Int]? {
        guard (2...4).contains(numbers.count),
            let middle = placement.output(x: Double(numbers[0]), y: Double(numbers[1]))
        else { return nil }
        var moved = [middle.x, middle.y]
        if numbers.count == 3 { moved.append(Double(numbers[2]) * min(placement.scaleX, placement.scaleY)) }
        if numbers.count == 4 {
            let sides = (Double(numbers[2]) * placement.scaleX, Double(numbers[3]) * placement.scaleY)
            moved += placement.isTransposed ? [sides.1, sides.0] : [sides.0, sides.1]
        }
        let whole = moved.map { Int($0.rounded()) }
        return whole.allSatisfy { (0...0xFFFF).contains($0) } ? whole : nil
    }
}
