/// What a file says about its colours in the numbers of ITU-T H.273.
struct CodedColors {
    private(set) var profile: [UInt8]?
    /// Set where the colours are others than it is known how to make a profile for.
    private(set) var note: String?

    /// sRGB and what is taken for it: BT.709 with any of the curves that are meant for the same screens.
    private static let usualPrimaries = [1, 2, 5, 6, 7]
    private static let usualTransfers = [1, 2, 4, 5, 6, 7, 13, 14, 15]

    init(primaries: Int, transfer: Int) {
        if primaries == 12, CodedColors.usualTransfers.contains(transfer) {
            profile = BuiltInProfile.displayP3.bytes
        } else if !CodedColors.usualPrimaries.contains(primaries) || !CodedColors.usualTransfers.contains(transfer) {
            note = "colours with primaries \(primaries) and transfer \(transfer) of H.273 are taken for sRGB"
        }
    }
}

extension CodedColors {
    /// Of a PNG's chunk cICP: primaries, transfer, matrix and whether the range is full. Others than R, G and B over the full
    /// range are told as not understood; nil for what is left unspecified.
    init?(png chunk: some Collection<UInt8>) {
        let numbers = chunk.map(Int.init)
        guard numbers.count == 4, !numbers.prefix(2).contains(2) else { return nil }
        self.init(primaries: numbers[0], transfer: numbers[1])
        guard numbers[2] != 0 || numbers[3] != 1 else { return }
        profile = nil
        note = "colours with matrix \(numbers[2]) and range \(numbers[3]) of H.273 are taken for sRGB"
    }
}
