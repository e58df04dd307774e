import Foundation
import Glibc
import Inference
import JobLink
import OpenCLKit
import SchedulingCore

/// What a model was prepared for in a worker that had to lay out its weights: all that another process needs to do the
/// same without the inputs.
struct LaidOutModel: Codable, Hashable, Sendable {
    struct Input: Codable, Hashable, Sendable {
        var name: String
        var elementType: String
        var shape: [Int]
    }

    var inputs: [Input]

    /// - Returns: nil where an extent is open.
    init?(_ types: [String: TensorType]) {
        inputs = []
        for (name, type) in types.sorted(by: { $0.key < $1.key }) {
            guard let shape = type.extents else { return nil }
            inputs.append(Input(name: name, elementType: type.elementType.rawValue, shape: shape))
        }
    }

    var types: [String: TensorType] {
        var types: [String: TensorType] = [:]
        for input in inputs {
            types[input.name] = ElementType(rawValue: input.elementType).map { TensorType($0, extents: input.shape) }
        }
        return types
    }
}

/// An entry of the cache, as a worker gets it: open for reading, with the key that it has to be of.
struct WeightOffer {
    var descriptor: Int32
    var key: Digest
}

/// The cache of laid out weights as a job's supervisor sees it: it alone computes keys and names entries.
struct WeightSupply {
    private let cache: WeightCache
    private let model: ModelTerms
    private let precision: PrecisionChoice

    /// Longest time that a process may take for an entry.
    private static let longest: Duration = .seconds(60)

    /// - Returns: nil where no folder for caches can be written.
    init?(_ model: ModelTerms, _ precision: PrecisionChoice) {
        guard let cache = WeightCache(folder: CacheFolder.standard()) else { return nil }
        self.cache = cache
        self.model = model
        self.precision = precision
    }

    private func key(readsAll: Bool) -> WeightCache.Key? {
        cache.key(files: model.files, precision: precision.rawValue, program: Program.version, readsAll: readsAll)
    }

    /// The model's entry, whose descriptor the caller closes; nil where there is none.
    func offer() -> WeightOffer? {
        guard let key = key(readsAll: false), let descriptor = cache.open(key) else { return nil }
        return WeightOffer(descriptor: descriptor, key: key.digest)
    }

    /// Has a process of its own lay out the weights, and keeps them for later jobs. It sees the model and no input, so that
    /// nothing but the model has a say in its entry.
    ///
    /// - Parameters:
    ///   - laidOut: What workers had prepared the model for.
    ///   - shouldStop: Is asked at least ten times a second; what is not ready then is given up.
    func renew(_ laidOut: [LaidOutModel], shouldStop: () -> Bool) {
        guard !shouldStop(), let key = key(readsAll: true), let sheet = cache.sheet(for: key) else { return }
        defer { close(sheet) }
        let known = cache.open(key)
        defer { if let known { close(known) } }
        guard let process = try? WorkerProcess() else { return }
        let order = LayingOutOrder(
            model: model, precision: precision, laidOut: laidOut, key: key.digest.hexadecimal,
            limitBytes: key.limitBytes)
        var isOver = false
        if case .done = process.channel.send(
            HostMessage.layOut(order), descriptors: [sheet] + [known].compactMap(\.self))
        {
            isOver = Self.waitsForEnd(of: process, shouldStop)
        }
        if !isOver { process.kill() }
        // It is gone before its sheet is looked at.
        guard process.reap() == .exited(status: 0) else { return }
        cache.keep(sheet, as: key)
    }

    /// - Returns: Whether the process has closed its socket in time.
    private static func waitsForEnd(of process: WorkerProcess, _ shouldStop: () -> Bool) -> Bool {
        let end = ContinuousClock.now + longest
        while !shouldStop(), ContinuousClock.now < end {
            var ends = pollfd(fd: process.channel.descriptor, events: Int16(POLLIN), revents: 0)
            // Nothing comes from it but its end.
            if poll(&ends, 1, 100) > 0 { return true }
        }
        return false
    }
}

/// What a process that lays out weights is told.
struct LayingOutOrder: Codable, Sendable {
    var model: ModelTerms
    var precision: PrecisionChoice
    /// At most ``mostModels``.
    var laidOut: [LaidOutModel]
    /// Of the entry, hexadecimal.
    var key: String
    var limitBytes: Int

    static let mostModels = 4
}

/// Lays out the weights of a model and writes them to a sheet, in a process that does nothing else.
struct LayingOut {
    var order: LayingOutOrder
    /// Where the entry goes.
    var sheet: Int32
    /// The entry that there is, with other parts of the same model.
    var known: Int32?

    /// - Returns: Whether the sheet holds the whole entry.
    func run(_ environment: [String: String]) -> Bool {
        guard let key = Digest(hexadecimal: order.key) else { return false }
        let laidOut = LaidOutWeights(known.flatMap { WeightEntry(descriptor: $0, key: key) })
        do throws(ModelError) {
            // The extents are those of the types.
            let model = try ModelImporter().load(path: order.model.path).withExtents([:])
            for types in order.laidOut.map(\.types) {
                _ = try CompiledModel(
                    model, inputs: types, precision: try order.precision.precision(types), laidOut: laidOut)
            }
        } catch {
            return false
        }
        let written = laidOut.write(to: sheet, key: key, limit: order.limitBytes)
        // A test's hook: killed in the middle.
        if environment["BGRUN_TEST_KILL_LAYING_OUT"] != nil {
            _ = ftruncate(sheet, off_t((written ?? 0) / 2))
            raise(SIGKILL)
        }
        return written != nil
    }
}
