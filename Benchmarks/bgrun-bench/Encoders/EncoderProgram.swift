/// A program that writes a format at a quality of 1 ... 100, by its own scale.
struct EncoderProgram: Sendable {
    var key: String
    /// Cases that it has options for.
    var cases: Set<EncoderCase> = [.kept, .resized]
    /// What a process of it runs for these pictures, one after the other.
    var invocations: @Sendable (_ files: [String], _ out: String, _ one: EncoderCase, _ quality: Int) -> [Invocation]
    /// Splits the pictures over its own workers.
    var splitsItself: (@Sendable (_ jobs: Int) -> [String])?

    /// The lanes of one run, one for each picture at a time.
    func lanes(_ files: [String], _ out: String, _ one: EncoderCase, _ quality: Int, jobs: Int) -> [[Invocation]] {
        if let splitsItself {
            var all = invocations(files, out, one, quality)
            for index in all.indices { all[index].arguments += splitsItself(jobs) }
            return [all]
        }
        return Contestant.split(files, lanes: jobs) { invocations($0, out, one, quality) }
    }
}
