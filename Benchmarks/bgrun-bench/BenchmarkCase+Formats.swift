/// One row for each kind of file that is read or written, against `vipsthumbnail` alone.
extension BenchmarkCase {
    /// What the photographs are made into before anything is timed, by one call of `vips`.
    struct Input: Sendable {
        /// An operation of vips that takes the photograph and the new file, and what follows them.
        var operation = "copy"
        let suffix: String
        /// How the file is written, as vips takes it.
        var saving = ""
        var arguments: [String] = []
    }

    /// How the outputs end, and how vips is to write them.
    struct Output: Sendable {
        let suffix: String
        var saving = ""
        /// What vips does differently.
        var remark = ""
    }

    /// The most that the project allows itself.
    private static let limit = 0.9

    private static let toJPEG = ["--size", "2048", "--format", "jpeg", "--quality", "85"]
    private static let jpeg = Output(suffix: "jpg", saving: "[Q=85]")

    private static func reading(_ name: String, _ title: String, _ input: Input) -> BenchmarkCase {
        var work = BenchmarkCase(
            name: "from-" + name, title: "2048 px JPEG of " + title, exportOptions: toJPEG, longEdges: [2048],
            fileLimit: 8, targets: [Target(contestants: ["vipsthumbnail"], figure: .cpu, limit: limit)])
        (work.input, work.output) = (input, jpeg)
        return work
    }

    private static func writing(
        _ name: String, _ title: String, _ options: [String], _ output: Output, _ input: Input? = nil
    ) -> BenchmarkCase {
        var work = BenchmarkCase(
            name: "to-" + name, title: "2048 px " + title, exportOptions: ["--size", "2048"] + options,
            longEdges: [2048], fileLimit: 8,
            targets: [Target(contestants: ["vipsthumbnail"], figure: .cpu, limit: limit)])
        (work.input, work.output) = (input, output)
        return work
    }

    private static func wide(_ suffix: String) -> Input {
        Input(operation: "colourspace", suffix: suffix, arguments: ["rgb16"])
    }

    private static func gray(_ suffix: String) -> Input {
        Input(operation: "colourspace", suffix: suffix, arguments: ["b-w"])
    }

    private static func alpha(_ suffix: String) -> Input {
        Input(operation: "bandjoin_const", suffix: suffix, arguments: ["200"])
    }

    /// vips's way to write what bgrun's TIFFs are.
    private static let tiff = Output(suffix: "tif", saving: "[compression=deflate,predictor=horizontal]")
    private static let png = Output(suffix: "png")
    private static let less = "writes 8 bits"

    static let formats =
        [
            reading("jpeg-gray", "gray JPEGs", gray("jpg")),
            reading("tiff", "plain TIFFs", Input(suffix: "tif")),
            reading("tiff-16", "plain TIFFs of 16 bits", wide("tif")),
            reading("tiff-gray", "plain gray TIFFs", gray("tif")),
            reading("tiff-alpha", "plain TIFFs with alpha", alpha("tif")),
            reading("tiff-deflate", "deflated TIFFs", Input(suffix: "tif", saving: tiff.saving)),
            reading("tiff-lzw", "TIFFs in LZW", Input(suffix: "tif", saving: "[compression=lzw,predictor=horizontal]")),
            reading("png", "PNGs", Input(suffix: "png")),
            reading("png-16", "PNGs of 16 bits", wide("png")),
            reading("png-gray", "gray PNGs", gray("png")),
            reading("png-alpha", "PNGs with alpha", alpha("png")),
            reading("png-palette", "PNGs with a palette", Input(suffix: "png", saving: "[palette]")),
            reading("webp", "WebPs", Input(suffix: "webp")),
            reading("webp-alpha", "WebPs with alpha", alpha("webp")),
            reading("webp-lossless", "WebPs without loss", Input(suffix: "webp", saving: "[lossless]")),
            reading("avif", "AVIFs", Input(suffix: "avif", saving: "[effort=0]")),
            reading("heic", "HEICs", Input(suffix: "heic", saving: "[effort=0]")),
            reading("jxl", "JPEG XLs", Input(suffix: "jxl", saving: "[effort=3]")),
            reading("jp2", "JPEG 2000", Input(suffix: "jp2")),
            reading("gif", "GIFs", Input(suffix: "gif")),
        ] + [
            writing("jpeg-gray", "gray JPEGs", ["--format", "jpeg", "--quality", "85"], jpeg, gray("jpg")),
            writing("png", "PNGs", ["--format", "png"], png),
            writing(
                "png-16", "PNGs of 16 bits", ["--format", "png", "--bits", "16"], Output(suffix: "png", remark: less),
                wide("tif")),
            writing("png-gray", "gray PNGs", ["--format", "png"], png, gray("jpg")),
            writing("png-alpha", "PNGs with alpha", ["--format", "png"], png, alpha("tif")),
            writing("tiff", "TIFFs", ["--format", "tiff"], tiff),
            writing(
                "tiff-16", "TIFFs of 16 bits", ["--format", "tiff", "--bits", "16"],
                Output(suffix: "tif", saving: tiff.saving, remark: less), wide("tif")),
            writing("tiff-gray", "gray TIFFs", ["--format", "tiff"], tiff, gray("jpg")),
            writing("tiff-alpha", "TIFFs with alpha", ["--format", "tiff"], tiff, alpha("tif")),
            writing(
                "webp-alpha", "WebPs with alpha", ["--format", "webp", "--quality", "80"],
                Output(suffix: "webp", saving: "[Q=80]"), alpha("tif")),
            writing(
                "webp-lossless", "WebPs without loss", ["--format", "webp", "--lossless"],
                Output(suffix: "webp", saving: "[lossless]")),
        ]
}
