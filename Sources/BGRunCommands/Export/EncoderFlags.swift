import ArgumentParser

/// The flags that say how an output is written, whatever its picture is made by.
struct EncoderFlags: ParsableArguments {
    @Option(help: .init("jpeg, png or webp; by default that of the input's name, else jpeg.", valueName: "format"))
    var format: String?

    @Option(help: .init("1 to 100; by default 85 for jpeg and 80 for webp.", valueName: "n"))
    var quality: String?

    @Option(help: .init("8 or 16 a channel; 16 for png only.", valueName: "n"))
    var bits: String?

    @Flag(help: "Lossless webp.")
    var lossless = false

    @Option(
        parsing: .unconditional,
        help: .init(
            """
            keep (default), strip, all but some groups as -gps,-camera, or some alone as +copyright,+artist: gps, \
            camera, dates, copyright, artist, description, other.
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
