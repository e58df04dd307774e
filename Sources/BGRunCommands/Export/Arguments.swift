import ArgumentParser
import Foundation
import ImageCodecs
import ImageExport

/// A span of time on the command line: `500ms`, `90s`, `15m`, `2h`, `1d`, or seconds without a unit.
struct TimeSpan: Hashable, Sendable, CustomStringConvertible {
    var duration: Duration

    init(duration: Duration) {
        self.duration = duration
    }

    /// Reads an argument.
    @Sendable static func parse(_ argument: String) throws -> TimeSpan {
        let units: [String: Double] = ["": 1, "ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400]
        let unit = String(argument.reversed().prefix(while: \.isLetter).reversed())
        guard let factor = units[unit], let value = Double(argument.dropLast(unit.count)), value * factor >= 0.001,
            value * factor < 1e9
        else { throw ValidationError("a time is a number with ms, s, m (or min), h or d, e.g. 500ms, 90s, 1.5h") }
        return TimeSpan(duration: .milliseconds(Int64((value * factor * 1000).rounded())))
    }

    var description: String {
        let milliseconds = Int64((duration / .milliseconds(1)).rounded())
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(Double(milliseconds) / 1000) s"
    }
}

/// A number of bytes on the command line: `800M`, `2G`, or bytes without a unit; units are powers of 1024.
struct ByteCount: ExpressibleByArgument, Hashable, Sendable {
    var bytes: Int

    init?(argument: String) {
        let units: [Character: Double] = ["k": 10, "K": 10, "m": 20, "M": 20, "g": 30, "G": 30]
        let text = argument.hasSuffix("B") ? argument.dropLast() : argument[...]
        let unit = text.last.flatMap { units[$0] }
        guard let value = Double(unit == nil ? text : text.dropLast()), value > 0 else { return nil }
        let bytes = value * exp2(unit ?? 0)
        guard bytes < 1e15 else { return nil }
        self.bytes = Int(bytes)
    }
}

/// The flags that describe outputs. Each has its name and its value from the same place as the keys of `--output`, so
/// that there is one reader for both.
struct OutputFlags: ParsableArguments {
    @Option(
        help: .init(
            "Long edge in pixels, or long:N, fit:WxH, fill:WxH, 2mp (megapixels), original.", valueName: "size"))
    var size: String?

    @Option(
        help: .init(
            "What fill:WxH keeps: center (default), top, bottom-left ..., or fractions as 0.5/0.3.", valueName: "place")
    )
    var gravity: String?

    @Option(
        help: .init(
            "Lower the quality until the file is no larger, e.g. 500k or 2M (units of 1024).", valueName: "size"))
    var maxBytes: String?

    @Flag(help: "Enlarge pictures that are smaller than the size.")
    var enlarge = false

    @OptionGroup var encoder: EncoderFlags

    @Option(help: .init("srgb (default), display-p3, or keep.", valueName: "space"))
    var color: String?

    @Flag(help: "Average light instead of gamma-coded values when resizing.")
    var linear = false

    @Flag(help: "Decode at full scale before resizing; slower, exact.")
    var exact = false

    @Option(
        help: .init(
            "Sharpen at output size: an amount of 0 to 5, with a sigma of 0.3 to 3, e.g. 0.6 or 0.6:1.2.",
            valueName: "amount[:sigma]"))
    var sharpen: String?

    @Option(help: .init("Colour under clear parts where the output has no alpha.", valueName: "RRGGBB"))
    var matte: String?

    @Option(
        help: .init(
            """
            A picture on top, with its place (bottom-right, top, 0.5/0.9 ...), opacity (0.8) and width as a part of the \
            output's (0.15).
            """, valueName: "logo[:place[:opacity[:scale]]]"))
    var watermark: String?

    @Option(help: .init("A line on top, with {year} {date} {stem} in it.", valueName: "text"))
    var watermarkText: String?

    @Option(
        help: .init(
            "Place, opacity (0.7) and height as a part of the shorter side (0.035) of that line.",
            valueName: "place[:opacity[:scale]]"))
    var textStyle: String?

    @Option(help: .init("Colour of that line, by default white.", valueName: "RRGGBB"))
    var textColor: String?

    @Option(help: .init("A font file, or the name of an installed one; by default DejaVu Sans.", valueName: "font"))
    var font: String?

    @Flag(help: "Smaller files, slower.")
    var optimize = false

    @Flag(help: "Progressive jpeg.")
    var progressive = false

    @Flag(name: .customLong("444"), help: "Full colour resolution in jpeg and avif.")
    var fullChroma = false

    @Flag(help: "Leave out the gain map (Ultra HDR) that a jpeg hands on to a jpeg.")
    var noGainMap = false

    @Option(help: .init("Of a camera's raw file: develop (default), or the preview in it.", valueName: "way"))
    var raw: String?

    @Option(
        help: .init(
            """
            Path below the output folder, made of {dir} {stem} {type} {size} {format} {index} {ext}; by default {stem}.{ext}, \
            and {stem}-{size}.{ext} for outputs of a file or several of --output. {dir} is the folder \
            of the picture below the one that was named; a template without it keeps that folder in front. {type} is the \
            ending of its name.
            """, valueName: "template"))
    var name: String?

    @Option(
        help: .init(
            """
            One of several outputs of each picture: size=2048,format=webp,quality=80,name=... A comma within a value is \
            written \\,. The flags are the defaults of those that can have them.
            """, valueName: "settings"))
    var output: [String] = []

    @Option(
        help: .init(
            "A file (YAML) of several outputs: the key outputs, with a name for each and its settings, e.g. web: {size: 2048}.",
            valueName: "file"), completion: .file())
    var outputs: String?

    @OptionGroup var look: LookFlags

    /// The outputs of each input.
    func specs() throws(OutputSpec.Mistake) -> [OutputSpec] {
        var base = OutputSpec()
        let values = [
            ("size", size), ("gravity", gravity), ("max-bytes", maxBytes), ("color", color), ("sharpen", sharpen),
            ("matte", matte), ("watermark", watermark), ("watermark-text", watermarkText), ("text-style", textStyle),
            ("text-color", textColor), ("font", font), ("rotate", look.rotate), ("crop", look.crop),
            ("border", look.border), ("raw", raw), ("name", name),
        ]
        for case (let key, let value?) in values { try base.set(key, to: value) }
        try encoder.apply(to: &base)
        let flags = [
            ("enlarge", enlarge), ("linear", linear), ("exact", exact), ("optimize", optimize),
            ("progressive", progressive), ("444", fullChroma), ("no-gain-map", noGainMap),
        ]
        for case (let key, true) in flags { try base.set(key, to: nil) }
        let operations = try look.operations()
        if !operations.isEmpty { base.settings.operations = operations }
        var specs: [OutputSpec] = []
        if let outputs { specs += try OutputsFile.read(outputs, over: base) }
        for text in output { specs.append(try base.applying(text)) }
        if specs.isEmpty { specs = [base] }
        for spec in specs {
            if let contradiction = spec.contradiction { throw OutputSpec.Mistake(description: contradiction) }
        }
        guard Set(specs.map(\.settings.raw)).count == 1 else {
            throw OutputSpec.Mistake(description: "raw is the same for all outputs of a picture")
        }
        return specs.map { $0.complete() }
    }
}

/// Bounds that guard against hostile or broken inputs.
struct LimitFlags: ParsableArguments {
    /// So few that a picture's bytes can be counted.
    private static let mostPixels = 1_000_000_000_000

    @Option(help: .init("Largest picture in pixels.", valueName: "n"))
    var maxPixels = DecodeLimits().maxPixels

    @Option(help: .init("Largest input file, e.g. 500M; by default 4G.", valueName: "size"))
    var maxFileSize: ByteCount?

    @Option(help: .init("Most pixels one byte of input may stand for.", valueName: "n"))
    var maxExpansion = DecodeLimits().maxPixelsPerByte

    @Option(help: .init("Most scans of a progressive jpeg.", valueName: "n"))
    var maxScans = DecodeLimits().maxScans

    func validate() throws {
        guard maxPixels > 0, maxExpansion > 0, maxScans > 0 else { throw ValidationError("limits are positive") }
        guard maxPixels <= Self.mostPixels else { throw ValidationError("max-pixels is at most \(Self.mostPixels)") }
    }

    var limits: DecodeLimits {
        var limits = DecodeLimits()
        limits.maxPixels = maxPixels
        limits.maxFileBytes = maxFileSize?.bytes ?? limits.maxFileBytes
        limits.maxPixelsPerByte = maxExpansion
        limits.maxScans = maxScans
        return limits
    }
}
