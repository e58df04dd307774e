import Foundation
import ONNXFormat
import SwiftProtobuf

/// Models to begin with: the ONNX project's cases of single operators with their inputs as initialisers, so that values
/// are changed as well.
enum Seeds {
    /// The most bytes of a seed.
    static let largest = 3000

    static func write(into folder: URL, cases: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let index = try String(contentsOf: cases.appending(path: "index.tsv"), encoding: .utf8)
        var count = 0
        for line in index.split(separator: "\n") {
            let parts = line.split(separator: "\t").map(String.init)
            guard parts.count >= 2 else { continue }
            let path = cases.appending(path: "\(parts[0])/\(parts[1])")
            guard let seed = try seed(path), seed.count <= largest else { continue }
            try seed.write(to: folder.appending(path: "\(parts[0])-\(parts[1])"))
            count += 1
        }
        print("\(count) seeds")
    }

    /// Nil where an input is no tensor.
    private static func seed(_ path: URL) throws -> Data? {
        var model = try ONNXModel(serializedBytes: Data(contentsOf: path.appending(path: "model.onnx")))
        var left: [ONNXValueInfo] = []
        for (number, port) in model.graph.input.enumerated() {
            let file = path.appending(path: "test_data_set_0/input_\(number).pb")
            guard FileManager.default.fileExists(atPath: file.path), port.type.tensorType.elemType != 0 else {
                left.append(port)
                continue
            }
            var tensor = try ONNXTensor(serializedBytes: Data(contentsOf: file))
            tensor.name = port.name
            model.graph.initializer.append(tensor)
        }
        model.graph.input = left
        return try model.serializedData()
    }
}
