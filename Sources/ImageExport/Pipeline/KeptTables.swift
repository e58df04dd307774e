package import ImageCodecs

/// What the pictures of a job have in common, kept from one to the next: the tables of their resizes and the transforms
/// of their colours. To make them takes milliseconds, in which a worker hears nothing and lets nobody go before it.
///
/// Used by one thread. What is large is made anew each time, so that no picture leaves much behind.
package final class KeptTables {
    private static let largestProfile = 1 << 20
    /// Samples of a resize, those of its source and its output in both directions.
    private static let mostSamples = 1 << 16

    private var colors = Recent<SourceColor.Origin, SourceColor>()
    private var resizes = Recent<Resize, ResizePlan>()

    private struct Resize: Equatable {
        var arithmetic: ResizeArithmetic
        var columns: Resampling.Part
        var rows: Resampling.Part
        /// The plan that is kept holds them, so that no others can have their identity.
        var curves: ObjectIdentifier?
        var matte: [Float]?
    }

    package init() {}

    /// - Throws: As ``SourceColor/init(_:)``.
    package func color(of header: ImageHeader) throws(CodecError) -> SourceColor {
        let origin = SourceColor.Origin(header)
        guard origin.icc?.count ?? 0 <= Self.largestProfile else { return try SourceColor(origin) }
        return try colors.value(for: origin) { () throws(CodecError) in try SourceColor(origin) }
    }

    /// Parameters as those of ``ResizePlan/init(arithmetic:columns:rows:curves:matte:)``.
    package func resize(
        arithmetic: ResizeArithmetic, columns: Resampling.Part, rows: Resampling.Part, curves: TransferCurves? = nil,
        matte: [Float]? = nil
    ) -> ResizePlan {
        let resize = Resize(
            arithmetic: arithmetic, columns: columns, rows: rows, curves: curves.map { ObjectIdentifier($0) },
            matte: matte)
        func make() -> ResizePlan {
            ResizePlan(
                arithmetic: arithmetic, columns: Resampling(columns), rows: Resampling(rows), curves: curves,
                matte: matte)
        }
        let samples = [columns, rows].reduce(0) { $0 + $1.sourceLength + $1.outputLength }
        return samples <= Self.mostSamples ? resizes.value(for: resize, make: make) : make()
    }
}

/// The few values that were used last.
struct Recent<Key: Equatable, Value> {
    private static var count: Int { 8 }
    /// The one used last comes last.
    private var entries: [(key: Key, value: Value)] = []

    mutating func value<Failure>(for key: Key, make: () throws(Failure) -> Value) throws(Failure) -> Value {
        if let place = entries.firstIndex(where: { $0.key == key }) {
            let known = entries.remove(at: place)
            entries.append(known)
            return known.value
        }
        let value = try make()
        if entries.count == Self.count { entries.removeFirst() }
        entries.append((key, value))
        return value
    }
}
