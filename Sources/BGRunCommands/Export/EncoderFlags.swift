import ArgumentParser

/// The flags that say how an output is written, whatever its picture is made by.
struct EncoderFlags: ParsableArguments {
    @Option(
        help: .init(
            "jpeg, png, tiff, webp, avif or jxl; by default that of the input's name (but tiff), else jpeg.",
            valueName: "format"))
    var format: String?

    @Option(help: .init("1 to 100; by default 85 for jpeg and jxl, 80 for webp, 60 for avif.", valueName: "n"))
    var quality: String?

    @Option(help: .init("A channel: 8, 10 for avif, 16 for png, tiff and jxl.", valueName: "n"))
    var bits: String?

    @Flag(help: "Lossless webp, avif and jxl.")
    var lossless = false

    @Option(
        parsing: .unconditional,
        help: .init(
            """
            keep (default), strip, all but some groups as -gps,-camera, or some alone as +copyright,+artist: gps, \
            camera, dates, copyright, artist, description, other. Maker notes, which may tell any of it, stay only \
            where all but copyright and other do.
            """, valueName: "groups"))
    var metadata: String?

    @Option(help: .init("Who made the pictures, for their metadata.", valueName: "name"))
    var artist: String?

    @Option(help: .init("The copyright notice for their metadata.", valueName: "text"))
    var copyright: String?

    /// Sets what was given.
    func apply(to spec: inout OutputSpec) throws(OutputSpec.Mistake) {
        let values = [
            ("format", format), ("quality", quality), ("bits", bits), ("metadata", metadata), ("artist", artist),
            ("copyright", copyright),
        ]
        for case (let key, let value?) in values { try spec.set(key, to: value) }
        if lossless { try spec.set("lossless", to: nil) }
    }
}
