import DescribedFile
import ImageExport

/// A chain of operations in a file: `operations`, a list of `NAME: VALUE` with names and values as on the command line.
enum OperationPreset {
    private static let largestFileBytes = 64 << 10

    /// - Throws: Every mistake in the file, a line each.
    static func read(_ path: String) throws(OutputSpec.Mistake) -> [ImageOperation] {
        do throws(FileMistakes) {
            return try operations(try DescribedFile.read(path: path, maxBytes: largestFileBytes))
        } catch {
            throw OutputSpec.Mistake(description: error.description)
        }
    }

    private static func operations(_ file: DescribedFile) throws(FileMistakes) -> [ImageOperation] {
        let list = file.root.fields(["operations"])?.required(
            "operations", fix: "Write \"operations:\" and a list of operations.")
        var operations: [ImageOperation] = []
        for item in list?.items() ?? [] {
            guard let named = item.fields(OutputSpec.operationNames)?.named, let (name, value) = named.first else {
                continue
            }
            if named.count > 1 {
                item.refuse(
                    "severalOperations", "These are several operations, whose order would not be known.",
                    fix: "Begin each with \"- \".")
            }
            guard let text = value.text() else { continue }
            do throws(OutputSpec.Mistake) {
                if let operation = try OutputSpec.operation(name, text) { operations.append(operation) }
            } catch {
                value.refuse("badOperation", "\(error.description).", fix: "Write a value as on the command line.")
            }
        }
        try file.log.check()
        return operations
    }
}
