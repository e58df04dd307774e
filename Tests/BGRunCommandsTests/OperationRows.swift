import Foundation

/// What `OPERATIONS.md` says of one operation beside what the program and its kernels say themselves.
struct OperationRow: Sendable {
    /// Its flag without dashes.
    var name: String
    var what: String
    /// The heart of it, for readers; the kernel has all of it.
    var formula: String
    /// What its flag takes, where the program refuses nothing that would tell it.
    var takes: String?
    /// File below `Kernels/Image` without extension, whose head tells the tolerance; nil where there is none.
    var kernel: String?
    /// Of what no kernel does; samples that are only moved are exact.
    var tolerance = "exact"
    /// Of the example.
    var flags: [String]
    var sample = Sample.plain

    /// What the example is made of.
    enum Sample: String, CaseIterable {
        case plain, noisy, soft
    }

    static let all: [OperationRow] = look + shape

    static let look: [OperationRow] = [
        OperationRow(
            name: "exposure", what: "stops of light",
            formula: "`c' = encode(2^stops decode(c))` with the curve of sRGB (IEC 61966-2-1)", kernel: "points",
            flags: ["--exposure=0.9"]),
        OperationRow(
            name: "white-balance", what: "warmer or cooler, more magenta or greener",
            formula:
                "gains `2^(t/2)`, `2^(-m/2)`, `2^(-t/2)` of R, G, B in linear light, together so that gray keeps its luma",
            kernel: "points", flags: ["--white-balance=0.7"]),
        OperationRow(
            name: "contrast", what: "steeper or flatter around the middle",
            formula: "`c' = c + amount (3 c^2 - 2 c^3 - c)`, a share of the smooth step", kernel: "points",
            flags: ["--contrast=0.9"]),
        OperationRow(
            name: "saturation", what: "more or less colour, -1 is gray",
            formula: "`c' = y + (1 + amount) (c - y)`, y the luma of Rec. ITU-R BT.709", kernel: "points",
            flags: ["--saturation=0.8"]),
        OperationRow(
            name: "curve", what: "any curve through points",
            formula: "monotone cubic pieces (Fritsch and Carlson, SIAM J. Numer. Anal. 1980)", kernel: "points",
            flags: ["--curve=0:0.08/0.3:0.2/0.7:0.85/1:1"]),
        OperationRow(
            name: "denoise", what: "removes noise from brightness and colours",
            formula: "thresholds of sliding 8 x 8 cosine transforms in decorrelated planes (Yu and Sapiro, IPOL 2011)",
            kernel: "denoise", flags: ["--denoise=0.4"], sample: .noisy),
        OperationRow(
            name: "local-contrast", what: "more detail beside edges, without halos",
            formula: "`c' = c + amount (y - base)`, base a guided filter of luma (He, Sun and Tang, TPAMI 2013)",
            kernel: "local_contrast", flags: ["--local-contrast=1:2"]),
        OperationRow(
            name: "deconvolve", what: "undoes a Gaussian blur",
            formula: "rounds of Richardson (JOSA 1972) and Lucy (AJ 1974) on luma, limited to what is around a pixel",
            kernel: "deconvolve", flags: ["--deconvolve=1:1.2:8"], sample: .soft),
        OperationRow(
            name: "grain", what: "noise like that of film, the same for the same picture and seed",
            formula:
                "`c' = c + amount t (1 - t) n(x, y)`, t the luma, n hashes of a lattice (finaliser of MurmurHash3)",
            kernel: "grain", flags: ["--grain=0.25:1.5"]),
        OperationRow(
            name: "sharpen", what: "unsharp mask at the size of the output",
            formula: "`c' = c + amount (y - gaussian(y, sigma))`", kernel: "sharpen", flags: ["--sharpen=1.5:1"],
            sample: .soft),
    ]

    private static let shape: [OperationRow] = [
        OperationRow(
            name: "rotate", what: "turns by any angle, cut to the largest part of its shape without empty corners",
            formula: "6 x 6 pixels weighted by the Lanczos window of order 3 (Duchon, 1979); quarter turns move pixels",
            kernel: "rotate", flags: ["--rotate=-6"]),
        OperationRow(
            name: "crop", what: "what is left of the turned picture",
            formula: "pixels as they are; the resize is of this",
            flags: ["--crop=1:1"]),
        OperationRow(
            name: "border", what: "a frame around the finished picture", formula: "one colour",
            flags: ["--border=6:203040"]),
        OperationRow(
            name: "watermark", what: "a picture on top of the finished one",
            formula: "`c' = c + opacity a (m - c)`, a the alpha of the mark m (over, Porter and Duff, SIGGRAPH 1984)",
            takes: "logo[:place[:opacity[:scale]]], the numbers from 0.005 to 1", tolerance: "within 1 of 255",
            flags: ["--watermark=logo.png:bottom-right:0.8:0.2"]),
        OperationRow(
            name: "watermark-text", what: "a line of text on top of the finished picture, set with FreeType",
            formula: "`c' = c + opacity a (t - c)`, a what a pixel has of the letters, t their colour",
            takes: "a line, with {year} {date} {stem} in it; `--text-style` takes place[:opacity[:scale]]",
            tolerance: "within 1 of 255",
            flags: ["--watermark-text=A Photographer", "--text-style=bottom-left:0.9:0.1", "--font=DejaVu Sans"]),
    ]
}
