import Glibc

/// One change of a picture's look. Operations are carried out in the order in which they are written.
package enum ImageOperation: Codable, Hashable, Sendable {
    /// Stops of light: 1 doubles it. -10 ... 10.
    case exposure(Double)
    case whiteBalance(WhiteBalance)
    /// -1 ... 1, around the middle of the codes: 1 makes them half as steep again there.
    case contrast(Double)
    /// -1 ... 4: added share of each pixel's distance from its luma; -1 is gray.
    case saturation(Double)
    case curve(ToneCurve)
    case denoise(Denoising)
    case localContrast(LocalContrast)
    case deconvolve(Deconvolution)
    case grain(Grain)
}

/// Gains of the channels in linear light.
package struct WhiteBalance: Codable, Hashable, Sendable {
    /// -1 (cooler) ... 1 (warmer): half a stop more red and less blue.
    package var temperature: Double
    /// -1 (greener) ... 1 (more magenta): half a stop less green.
    package var tint: Double

    package init(temperature: Double, tint: Double) {
        self.temperature = temperature
        self.tint = tint
    }

    /// For R, G, B; a gray keeps its luma.
    package var gains: [Double] {
        let raw = [exp2(temperature / 2), exp2(-tint / 2), exp2(-temperature / 2)]
        let luma = zip(raw, lumaWeights).reduce(0) { $0 + $1.0 * $1.1 }
        return raw.map { $0 / luma }
    }
}

/// Removal of noise that is as strong everywhere; see `Kernels/Image/denoise.cl`.
package struct Denoising: Codable, Hashable, Sendable {
    /// 0 ... 1: noise in R, G and B of up to this times ``Denoising/strongest`` goes from the brightness.
    package var luma: Double
    /// The same for the colours.
    package var chroma: Double

    /// Standard deviation of noise, in codes of 0 ... 1, that strength 1 is for.
    package static let strongest = 40.0 / 255

    package init(luma: Double, chroma: Double) {
        self.luma = luma
        self.chroma = chroma
    }
}

/// More or less of the detail beside edges; see `Kernels/Image/local_contrast.cl`.
package struct LocalContrast: Codable, Hashable, Sendable {
    /// -1 ... 3: 1 doubles it, -1 leaves the base alone.
    package var amount: Double
    /// Reach in per cent of the picture's longer edge, 0.1 ... 2.
    package var reach: Double

    package init(amount: Double, reach: Double) {
        self.amount = amount
        self.reach = reach
    }
}

/// Undoing of a Gaussian blur; see `Kernels/Image/deconvolve.cl`.
package struct Deconvolution: Codable, Hashable, Sendable {
    /// 0 ... 1: share of what is found that is applied.
    package var amount: Double
    /// Standard deviation of the blur in pixels of the input, 0.3 ... 1.6.
    package var sigma: Double
    /// 1 ... 10.
    package var rounds: Int

    package init(amount: Double, sigma: Double, rounds: Int) {
        self.amount = amount
        self.sigma = sigma
        self.rounds = rounds
    }
}

/// Noise like that of film; see `Kernels/Image/grain.cl`.
package struct Grain: Codable, Hashable, Sendable {
    /// 0 ... 1: 1 is a deviation of a quarter of the range in the middle tones.
    package var amount: Double
    /// Pixels of the output from one grain to the next, 1 ... 16.
    package var size: Double
    /// Together with the picture's content decides where grains fall.
    package var seed: UInt32

    /// Places of the lattice in a pixel, times 65536.
    package var step: UInt32 { UInt32((65536 / size).rounded()) }

    package init(amount: Double, size: Double, seed: UInt32) {
        self.amount = amount
        self.size = size
        self.seed = seed
    }
}

/// Weights of R, G and B in luma (Rec. ITU-R BT.709).
package let lumaWeights = [0.2126, 0.7152, 0.0722]

extension ImageOperation {
    /// Whether a pixel depends on those around it.
    package var looksAround: Bool {
        switch self {
        case .denoise, .localContrast, .deconvolve: true
        default: false
        }
    }

    /// At these numbers it is as if it were not there.
    var changesNothing: Bool {
        switch self {
        case .exposure(let stops): stops == 0
        case .whiteBalance(let balance): balance.temperature == 0 && balance.tint == 0
        case .contrast(let amount), .saturation(let amount): amount == 0
        case .curve(let curve): curve.changesNothing
        case .denoise(let denoising): denoising.luma == 0 && denoising.chroma == 0
        case .localContrast(let contrast): contrast.amount == 0
        case .deconvolve(let deconvolution): deconvolution.amount == 0
        case .grain(let grain): grain.amount == 0
        }
    }

    /// Gray pictures stay gray.
    var keepsGray: Bool {
        if case .whiteBalance = self { false } else { true }
    }

    /// The two parts of a chain: what is done before a resize, and what after it.
    ///
    /// What looks around works on the pixels of the input, and so does all that was written in front of it. What follows gives the
    /// same at the output's size and costs less there.
    package static func split(
        _ operations: [ImageOperation], resizes: Bool
    ) -> (before: [ImageOperation], after: [ImageOperation]) {
        guard resizes else { return (operations, []) }
        let count = operations.lastIndex(where: \.looksAround).map { $0 + 1 } ?? 0
        return (Array(operations[..<count]), Array(operations[count...]))
    }
}
