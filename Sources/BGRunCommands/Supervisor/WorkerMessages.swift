import Foundation
import ImageExport

/// What the supervisor tells a worker.
enum HostMessage: Codable, Sendable {
    /// - environment: What the device's driver wants set before its first call.
    case run(ExportItem, environment: [String: String])
    /// Nothing comes any more: keep what later processes can use, and end.
    case leave
}

/// What a worker tells its supervisor.
enum WorkerMessage: Codable, Sendable {
    /// Sign of life of the item in flight, at most ten a second.
    case progress(done: Int, total: Int)
    /// An encoder that gives no sign of life begins; it may take so many seconds.
    case encoding(seconds: Double)
    /// Ends the item in flight.
    case result(ExportResult)
}
