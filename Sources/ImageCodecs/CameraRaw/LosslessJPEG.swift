/// Looks at the head of a JPEG in a raw file (ITU-T T.81, annex B).
enum LosslessJPEG {
    /// Whether its segments lead to a frame and a scan, as far as the bytes go.
    static func begins(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        var place = bytes.startIndex + 2
        guard bytes.starts(with: [0xFF, 0xD8]) else { return false }
        var hasFrame = false
        while place + 4 <= bytes.endIndex, bytes[place] == 0xFF {
            let marker = bytes[place + 1]
            if marker == 0xDA { return hasFrame }
            // Frames of DCT, extended DCT and without loss.
            if [0xC0, 0xC1, 0xC3].contains(marker) { hasFrame = true }
            place += 2 + (Int(bytes[place + 2]) << 8 | Int(bytes[place + 3]))
        }
        return false
    }
}
