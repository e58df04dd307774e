import CFuzzer
import Foundation

/// Feeds the importer with damaged models until one of them crashes it, hangs it or takes too much memory.
///
/// Arguments are those of libFuzzer; `--seeds FOLDER CASES` and `--generate FOLDER` write models to begin with into a folder
/// instead.
@main enum ModelFuzz {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[1] == "--seeds" {
            try Seeds.write(into: URL(filePath: arguments[2]), cases: URL(filePath: arguments[3]))
            return
        }
        if arguments.count == 3, arguments[1] == "--generate" {
            try GeneratedSeeds.write(into: URL(filePath: arguments[2]))
            return
        }
        var count = CommandLine.argc
        var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &values) { bytes, count in
                Execution.run(Data(buffer: UnsafeBufferPointer(start: bytes, count: count)))
                return 0
            })
    }
}

/// libFuzzer calls this for each change of an input, where a program has it.
@_cdecl("LLVMFuzzerCustomMutator")
func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ capacity: Int, _ seed: UInt32) -> Int {
    Mutator.mutate(UnsafeMutableBufferPointer(start: bytes, count: capacity), count: count, seed: seed)
}
