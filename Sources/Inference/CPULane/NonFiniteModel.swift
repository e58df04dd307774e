import Locking

/// A model compiled once more, so that NaN and infinities come through every step as IEEE 754 has them: what oneDNN has no
/// such form of is evaluated plainly. It takes many times as long, and is made when a run first needs it.
final class NonFiniteModel: Sendable {
    private let make: @Sendable () throws(ModelError) -> CompiledModel
    private let made = Lock<CompiledModel?>(nil)

    init(make: @escaping @Sendable () throws(ModelError) -> CompiledModel) { self.make = make }

    /// - Throws: As ``CompiledModel`` does when it is made.
    func model() throws(ModelError) -> CompiledModel {
        try made.withLock { made throws(ModelError) in
            if let made { return made }
            let model = try make()
            made = model
            return model
        }
    }
}
