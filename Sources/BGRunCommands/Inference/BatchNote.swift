import ChunkedCompute
import Inference
import InferenceData

/// What the part of a batch says where arrays were asked for. The rows themselves lie in a file for each output, which all
/// batches share.
struct BatchNote: Codable, Sendable {
    /// Rows of one output, one for each input of the batch.
    struct Rows: Codable, Sendable {
        var elementType: ElementType
        /// Of one row.
        var shape: [Int]
        /// XXH3-128 of all of them, hexadecimal.
        var checksum: String
        /// The model gave no row for the input, but a result without an axis for rows.
        var isWhole: Bool?

        /// How they lie in their file.
        func assembly() throws(DataError) -> NPYAssembly {
            try NPYAssembly(elementType: elementType, rowShape: shape)
        }

        /// The header of the file of all batches. What a model made of the only input without an axis for rows has none there
        /// either.
        func header(_ assembly: NPYAssembly, rowCount: Int) -> [UInt8] {
            rowCount == 1 && isWhole == true ? assembly.headerOfWhole : assembly.header(rowCount: rowCount)
        }
    }

    /// Of each output of the model; empty where no input has a result.
    var rows: [Rows]
    /// Inputs without a result, whose rows are NaN, or zeros where there is none.
    var problems: [ItemResult.Problem]
}
