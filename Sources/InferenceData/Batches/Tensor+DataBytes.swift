import Inference

extension Tensor {
    /// The bytes, for work that fails as data does.
    func withDataBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(DataError) -> Result
    ) throws(DataError) -> Result {
        let outcome = try asDataError { () throws(ModelError) in
            try withBytes { bytes -> Swift.Result<Result, DataError> in
                do throws(DataError) {
                    return .success(try body(bytes))
                } catch {
                    return .failure(error)
                }
            }
        }
        return try outcome.get()
    }
}
