/// What a number of batches took.
struct InferenceTime {
    /// Seconds.
    var wall: Double
    /// Seconds of user and system time.
    var processor: Double
    /// Seconds of the batch that took longest.
    var longest: Double

    /// The same of one of `count` batches.
    func each(of count: Int) -> InferenceTime {
        InferenceTime(wall: wall / Double(count), processor: processor / Double(count), longest: longest)
    }
}

/// An engine that has loaded a model and its inputs, and has run it once.
protocol InferenceContestant: AnyObject {
    var title: String { get }
    /// Batches that go on at once.
    var streams: Int { get }
    /// Runs so many batches, shared out to the streams.
    func run(_ count: Int) throws -> InferenceTime
    /// Of the last run, as float32 by name.
    func outputs() throws -> [String: [Float]]
}

extension InferenceContestant {
    /// Batches that take at least so many seconds, as many in each stream.
    func count(for seconds: Double) throws -> Int {
        streams * max(1, Int((seconds / (try run(streams)).wall).rounded(.up)))
    }
}
