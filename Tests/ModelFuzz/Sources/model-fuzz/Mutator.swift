import CFuzzer
import Foundation
import ONNXFormat
import SeededNumbers
import SwiftProtobuf

/// Changes a model: mostly its messages, so that it stays a file that can be read; otherwise bytes, as libFuzzer does.
enum Mutator {
    /// - Returns: The bytes that are in use then.
    static func mutate(_ bytes: UnsafeMutableBufferPointer<UInt8>, count: Int, seed: UInt32) -> Int {
        var random = SeededGenerator(seed: UInt64(seed))
        guard random.below(5) > 0, let changed = changed(Data(bytes.prefix(count)), &random),
            changed.count <= bytes.count, !changed.isEmpty
        else { return LLVMFuzzerMutate(bytes.baseAddress, count, bytes.count) }
        _ = bytes.update(fromContentsOf: changed)
        return changed.count
    }

    /// Nil where the bytes are no model.
    private static func changed(_ bytes: Data, _ random: inout SeededGenerator) -> Data? {
        guard var model = try? ONNXModel(serializedBytes: bytes) else { return nil }
        for _ in 0...random.below(3) {
            switch random.below(20) {
            case 0 where !model.opsetImport.isEmpty:
                let place = random.below(model.opsetImport.count)
                model.opsetImport[place].version = Int64(7 + random.below(16))
            case 1 where !model.functions.isEmpty:
                let place = random.below(model.functions.count)
                var graph = ONNXGraph()
                graph.node = model.functions[place].node
                graph.change(&random)
                model.functions[place].node = graph.node
            case 2 where !model.graph.node.isEmpty: model.makeFunction(random.below(model.graph.node.count))
            default: model.graph.change(&random)
            }
        }
        return try? model.serializedData()
    }
}

extension ONNXModel {
    /// Puts a node into a function of its own, with a call in its place.
    fileprivate mutating func makeFunction(_ place: Int) {
        let node = graph.node[place]
        var function = ONNXFunction()
        function.name = "Function\(functions.count)"
        function.domain = "local"
        function.input = node.input
        function.output = node.output
        function.node = [node]
        function.opsetImport = opsetImport
        functions.append(function)
        if !opsetImport.contains(where: { $0.domain == "local" }) {
            var set = ONNXOperatorSet()
            set.domain = "local"
            set.version = 1
            opsetImport.append(set)
        }
        graph.node[place].opType = function.name
        graph.node[place].domain = "local"
        graph.node[place].attribute = []
    }
}
