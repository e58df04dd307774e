package import SchedulingCore
import TaskModel

/// What a person is told when a stop has to wait for items in work.
package struct StopWords {
    /// What happened, e.g. `Stopping`.
    package var sentence: String
    package var inWork: Int
    /// Time for what is in work.
    package var patience: Duration
    /// What cannot be done at once is given up.
    package var givesUp: Bool
    /// The encode that is waited for longer.
    package var encode: JobMachine.Wait?
    /// What the longest encode of the items in work takes, guessed, in seconds.
    package var longestEncode: Double

    package init(
        sentence: String, inWork: Int, patience: Duration, givesUp: Bool, encode: JobMachine.Wait?,
        longestEncode: Double
    ) {
        self.sentence = sentence
        self.inWork = inWork
        self.patience = patience
        self.givesUp = givesUp
        self.encode = encode
        self.longestEncode = longestEncode
    }

    /// Encoders below this end before somebody wonders, in seconds.
    private static let toldSilence = 1.0

    package var text: String {
        let patience = TimeSpan(duration: patience)
        let manner =
            givesUp
            ? "what is all but done of \(inWork) in work is finished, within \(patience)."
            : "finishing \(inWork) in work, for at most \(patience) (Ctrl-C leaves at once)."
        return "\(sentence): \(manner)\(wait)"
    }

    private var wait: String {
        if let encode {
            let left = encode.expected.inSeconds
            // Whole seconds are enough for a bound.
            let longest = TimeSpan(duration: .seconds(Int(encode.longest.inSeconds.rounded(.up))))
            return " An encode under way ends in about \(ProgressDisplay.text(left...left)) and is waited for, "
                + "for at most \(longest)."
        }
        guard longestEncode >= Self.toldSilence else { return "" }
        let isLonger = patience < .seconds(longestEncode)
        return " The longest encode takes about \(ProgressDisplay.text(longestEncode...longestEncode))"
            + (isLonger ? "; one that has not ended by then is given up." : ".")
    }
}
