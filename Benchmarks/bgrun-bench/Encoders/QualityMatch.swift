import Foundation

/// Looks for the two neighbouring qualities between whose PSNRs a goal lies, in few trials.
struct QualityMatch {
    typealias Trial = (quality: Int, psnr: Double, bytes: Double)

    /// PSNR of one step of quality before two are known, in dB: about that of photographs between 50 and 90.
    private static let usualSlope = 0.12

    private let goal: Double
    private let first: Int
    /// The highest quality that is known to be worse than the goal, and the lowest that is not.
    private(set) var below: Trial?
    private(set) var above: Trial?

    /// - Parameters:
    ///   - goal: In dB.
    ///   - first: The quality to begin with.
    init(goal: Double, first: Int) {
        self.goal = goal
        self.first = first
    }

    /// The quality to try next, 1 ... 100; nil when the answer is known.
    var next: Int? {
        switch (below, above) {
        case (nil, nil): return first
        case (let below?, nil): return below.quality < 100 ? step(from: below, within: below.quality + 1...100) : nil
        case (nil, let above?): return above.quality > 1 ? step(from: above, within: 1...above.quality - 1) : nil
        case (let below?, let above?):
            guard above.quality - below.quality > 1 else { return nil }
            let share = (goal - below.psnr) / max(above.psnr - below.psnr, 0.001)
            let guess = Double(below.quality) + share * Double(above.quality - below.quality)
            return min(max(Int(guess.rounded()), below.quality + 1), above.quality - 1)
        }
    }

    /// A little further than the usual slope says, so that the goal lies between.
    private func step(from trial: Trial, within range: ClosedRange<Int>) -> Int {
        let steps = (goal - trial.psnr) / Self.usualSlope * 1.3
        let guess = Double(trial.quality) + min(max(steps, -100), 100) + (steps < 0 ? -1 : 1)
        return min(max(Int(guess.rounded()), range.lowerBound), range.upperBound)
    }

    mutating func tried(_ trial: Trial) {
        if trial.psnr < goal { below = trial } else { above = trial }
    }

    /// The trial that is nearer to the goal.
    var nearest: Trial? {
        guard let below, let above else { return below ?? above }
        return goal - below.psnr < above.psnr - goal ? below : above
    }

    /// What a file would have at exactly the goal, between the two.
    var bytesAtGoal: Double? {
        guard let below, let above, above.psnr > below.psnr else { return nearest?.bytes }
        let share = (goal - below.psnr) / (above.psnr - below.psnr)
        return below.bytes * pow(above.bytes / below.bytes, share)
    }
}
