/// One job that several programs can do.
struct BenchmarkCase: Sendable {
    /// Name on the command line and in the results.
    let name: String
    let title: String
    /// Options of `bgrun export` for this job.
    let exportOptions: [String]
    /// Long edges of the outputs of each picture; nil keeps the input's.
    let longEdges: [Int?]
    /// At most this many of the pictures, for programs that take minutes.
    var fileLimit = Int.max
    /// One small picture is exported instead of the photographs.
    var isSmall = false
    /// Limit in seconds on the wall time of bgrun; nil where none is set.
    var wallLimit: Double?
    /// Limit in megabytes on the memory of bgrun with two workers; nil where none is set.
    var memoryLimitMB: Double?
    let targets: [Target]
    /// For one kind of file: what the photographs are made into first, and what is made of them; nil in other cases.
    var input: Input?
    var output: Output?

    /// An upper limit on a ratio of bgrun to another program.
    struct Target: Sendable {
        enum Figure: String, Codable, Sendable { case wall, cpu }
        /// Keys of the programs; the fastest of them counts.
        let contestants: [String]
        let figure: Figure
        let limit: Double
    }

    static let all = [web, thumbnails, sharpen, three, linear, webp, avif, jxl, darktable, overhead, start] + formats

    static func named(_ name: String) -> BenchmarkCase? { all.first { $0.name == name } }

    private static let web = BenchmarkCase(
        name: "web", title: "2048 px sRGB JPEG, quality 85, with metadata",
        exportOptions: ["--size", "2048", "--format", "jpeg", "--quality", "85"], longEdges: [2048],
        memoryLimitMB: 150,
        targets: [
            Target(contestants: ["vipsthumbnail"], figure: .wall, limit: 0.45),
            Target(contestants: ["vipsthumbnail"], figure: .cpu, limit: 0.42),
            Target(contestants: ["pyvips"], figure: .wall, limit: 0.70),
        ])

    private static let thumbnails = BenchmarkCase(
        name: "thumbnails", title: "256 px sRGB JPEG thumbnails",
        exportOptions: ["--size", "256", "--format", "jpeg", "--quality", "85"], longEdges: [256],
        targets: [Target(contestants: ["vipsthumbnail"], figure: .wall, limit: 0.85)])

    private static let sharpen = BenchmarkCase(
        name: "sharpen", title: "Full size, sharpened, JPEG quality 90",
        exportOptions: [
            "--size", "original", "--format", "jpeg", "--quality", "90", "--sharpen", "0.8:1", "--color", "keep",
        ],
        longEdges: [nil],
        targets: [
            Target(contestants: ["vips-sharpen"], figure: .wall, limit: 0.25),
            Target(contestants: ["pyvips-separable", "pyvips-luma"], figure: .wall, limit: 0.80),
        ])

    private static let three = BenchmarkCase(
        name: "three", title: "2048, 1024 and 256 px JPEGs of each picture",
        exportOptions: ["--format", "jpeg", "--quality", "85"]
            + ["--name", "{stem}-{size}.{ext}"] + [2048, 1024, 256].flatMap { ["--output", "size=\($0)"] },
        longEdges: [2048, 1024, 256],
        targets: [Target(contestants: ["vipsthumbnail"], figure: .wall, limit: 0.30)])

    private static let linear = BenchmarkCase(
        name: "linear", title: "2048 px JPEG, resized in linear light",
        exportOptions: ["--size", "2048", "--format", "jpeg", "--quality", "85", "--linear"], longEdges: [2048],
        targets: [Target(contestants: ["vipsthumbnail"], figure: .wall, limit: 0.25)])

    private static let webp = BenchmarkCase(
        name: "webp", title: "2048 px WebP, quality 80, each at its default effort",
        exportOptions: ["--size", "2048", "--format", "webp", "--quality", "80"], longEdges: [2048],
        targets: [Target(contestants: ["vipsthumbnail"], figure: .wall, limit: 0.65)])

    private static let avif = BenchmarkCase(
        name: "avif", title: "2048 px AVIF, quality 60",
        exportOptions: ["--size", "2048", "--format", "avif", "--quality", "60"], longEdges: [2048],
        targets: [Target(contestants: ["vipsthumbnail", "vipsthumbnail-same-speed"], figure: .wall, limit: 0.80)])

    private static let jxl = BenchmarkCase(
        name: "jxl", title: "2048 px JPEG XL, quality 85",
        exportOptions: ["--size", "2048", "--format", "jxl", "--quality", "85"], longEdges: [2048],
        targets: [Target(contestants: ["vipsthumbnail", "vipsthumbnail-same-speed"], figure: .wall, limit: 0.80)])

    private static let darktable = BenchmarkCase(
        name: "darktable", title: "2048 px JPEG, few pictures, against darktable-cli",
        exportOptions: web.exportOptions, longEdges: [2048], fileLimit: 4, targets: [])

    private static let overhead = BenchmarkCase(
        name: "overhead", title: "The same pipeline without scheduling, progress and journal",
        exportOptions: web.exportOptions, longEdges: [2048],
        targets: [
            Target(contestants: ["pipeline"], figure: .wall, limit: 1.01),
            Target(contestants: ["pipeline"], figure: .cpu, limit: 1.01),
        ])

    private static let start = BenchmarkCase(
        name: "start", title: "The whole export of one picture of 64x48 pixels, an upper bound of start to first pixel",
        exportOptions: ["--size", "32", "--format", "jpeg"], longEdges: [32], isSmall: true, wallLimit: 0.1,
        targets: [])
}
