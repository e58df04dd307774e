import ChunkedCompute
import Foundation
import OpenCLKit
import Testing

/// Random pictures with random settings: what has to hold of all of them. `BGRUN_RANDOM_PICTURES` makes so many more of
/// them, from the seed `BGRUN_RANDOM_SEED` on.
@Suite(.serialized) struct RandomPictureTests {
    static let count = 1500
    /// Differences after which a run ends.
    private static let most = 20

    private func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    @Test func whatHoldsOfOnePictureHoldsOfAll() throws {
        let device = try openCLDevice().info.identity
        let checks = try PictureChecks(opencl: .openCL(device: device))
        let first = UInt64(number("BGRUN_RANDOM_SEED") ?? 1)
        let count = number("BGRUN_RANDOM_PICTURES") ?? Self.count
        var wrong: [String] = []
        var done = 0
        for seed in first..<first + UInt64(count) where wrong.count < Self.most {
            wrong += try checks.check(seed: seed)
            done += 1
        }
        print("\(done) random pictures from seed \(first), \(wrong.count) differences")
        for sentence in wrong { Issue.record(Comment(rawValue: sentence)) }
    }
}
