public import Foundation
import Locking

/// A seam that a workload writes its files through, so that a test can fill the volume under it.
///
/// ```swift
/// // In the program: struct Exporter { var write: @Sendable (Data, URL) throws -> Void = { try $0.write(to: $1) } }
/// let volume = SimulatedVolume()
/// let exporter = Exporter(write: volume.write)
/// volume.fill()
/// ```
///
/// As on a real volume that is full, a file that no longer fits is left there in part. That the scheduler sees little free
/// space is another matter: `machine.lose(.outputVolume)`.
public final class SimulatedVolume: Sendable {
    private struct State {
        var freeBytes: Int
        var writes = 0
        var refusals = 0
    }

    private let state: Lock<State>

    /// - Parameter freeBytes: How much can be written; without end by default.
    public init(freeBytes: Int = .max) {
        state = Lock(State(freeBytes: freeBytes))
    }

    /// Bytes that can still be written.
    public var freeBytes: Int { state.withLock(\.freeBytes) }
    /// How often ``write(_:to:)`` was called.
    public var writes: Int { state.withLock(\.writes) }
    /// How often it found the volume full.
    public var refusals: Int { state.withLock(\.refusals) }

    /// From now on nothing fits.
    public func fill() {
        state.withLock { $0.freeBytes = 0 }
    }

    /// Makes room.
    ///
    /// - Parameter bytes: That can be written from now on; without end by default.
    public func free(_ bytes: Int = .max) {
        state.withLock { $0.freeBytes = bytes }
    }

    /// Writes a file, as `Data.write(to:)` does. One that it replaces gives no room back.
    ///
    /// - Parameters:
    ///   - data: All of the file.
    ///   - url: Of the file.
    /// - Throws: `CocoaError.fileWriteOutOfSpace` when it does not fit, after writing what does; otherwise what
    ///   `Data.write(to:)` throws.
    public func write(_ data: Data, to url: URL) throws {
        let fitting = state.withLock { state in
            let fitting = min(data.count, state.freeBytes)
            state.writes += 1
            if fitting < data.count { state.refusals += 1 }
            if state.freeBytes != .max { state.freeBytes -= fitting }
            return fitting
        }
        guard fitting < data.count else { return try data.write(to: url) }
        try data.prefix(fitting).write(to: url)
        throw CocoaError(.fileWriteOutOfSpace)
    }
}
