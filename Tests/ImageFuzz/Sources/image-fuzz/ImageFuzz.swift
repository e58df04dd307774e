import CAllocations
import CFuzzer
import Foundation

/// Exports damaged pictures until one of them crashes or hangs the exporter, or takes more memory than it claims.
///
/// The first byte of an input chooses the settings (``Choice``), the rest is the file. Arguments are those of libFuzzer;
/// `--generate FOLDER` writes inputs to begin with into a folder instead.
@main enum ImageFuzz {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "--generate" {
            try GeneratedSeeds.write(into: URL(filePath: arguments[2]))
            return
        }
        guard allocations_watch() == 1 else { fatalError("allocations cannot be counted") }
        Execution.warmUp()
        var count = CommandLine.argc
        var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &values) { bytes, count in
                Execution.run(UnsafeRawBufferPointer(start: bytes, count: count))
                return 0
            })
    }
}
