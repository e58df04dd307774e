/// One operation that several programs have, and the pictures it is tried on.
struct OperationCase: Sendable {
    /// How the pictures differ from the clean ones.
    enum Damage: Sendable {
        /// Normal noise in R, G and B with that deviation in levels of 255.
        case noise(Double)
        /// A Gaussian blur with that deviation in pixels.
        case blur(Double)
        case none
    }

    var name: String
    var damage: Damage
    /// Options of `bgrun export`.
    var options: [String]
    /// Methods of `opencv_operations.py` with their amounts.
    var openCV: [(method: String, amount: String)]
    /// Options of ImageMagick's and of GraphicsMagick's `mogrify`, each a contestant.
    var imageMagick: [[String]]
    var graphicsMagick: [[String]]
    var darktable: DarktableModule

    /// Nearness to the clean pictures says something about the result.
    var hasTruth: Bool {
        if case .none = damage { false } else { true }
    }

    static func all(sigma: Double, blur: Double) -> [OperationCase] {
        let strength = sigma / 40
        return [
            OperationCase(
                name: "denoise", damage: .noise(sigma), options: ["--denoise", "\(strength)"],
                openCV: ["nlm", "bilateral5", "bilateral7", "guided"].map { ($0, "\(sigma)") },
                imageMagick: [["-wavelet-denoise", "\(sigma / 2.55)%"], ["-despeckle"], ["-enhance"]],
                graphicsMagick: [["-median", "1"], ["-despeckle"]], darktable: .nonLocalMeans),
            OperationCase(
                name: "local-contrast", damage: .none, options: ["--local-contrast", "0.5"],
                openCV: [("clahe", "1"), ("guided-contrast", "0.5")], imageMagick: [["-local-contrast", "10x25"]],
                graphicsMagick: [["-unsharp", "0x30+0.5+0"]], darktable: .localLaplacian),
            OperationCase(
                name: "deconvolve", damage: .blur(blur), options: ["--deconvolve", "1:\(blur)"],
                openCV: [("richardson-lucy", "\(blur)")], imageMagick: [["-unsharp", "0x\(blur)+1+0"]],
                graphicsMagick: [["-unsharp", "0x\(blur)+1+0"]], darktable: .sharpen),
        ]
    }
}
