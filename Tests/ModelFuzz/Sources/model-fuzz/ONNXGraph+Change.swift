import Foundation
import Inference
import ONNXFormat
import SeededNumbers

extension ONNXGraph {
    /// One change somewhere in the graph or in one of its subgraphs.
    mutating func change(_ random: inout SeededGenerator) {
        switch random.below(12) {
        case 0...4 where !node.isEmpty:
            let place = random.below(node.count)
            var changed = node[place]
            changed.change(&random, names: names)
            node[place] = changed
        case 5...7 where !initializer.isEmpty: initializer[random.below(initializer.count)].change(&random)
        case 8 where !initializer.isEmpty: makeInput(random.below(initializer.count), &random)
        case 9 where !input.isEmpty: input[random.below(input.count)].change(&random)
        case 10: changeOrder(&random)
        default: addNode(&random)
        }
    }

    private var names: [String] {
        input.map(\.name) + initializer.map(\.name) + node.flatMap(\.output) + [""]
    }

    /// An initialiser becomes an input, of whose type less may be known.
    private mutating func makeInput(_ place: Int, _ random: inout SeededGenerator) {
        let tensor = initializer.remove(at: place)
        var port = ONNXValueInfo()
        port.name = tensor.name
        port.type.tensorType.elemType = tensor.dataType
        guard random.below(4) > 0 else { return input.append(port) }
        port.type.tensorType.shape.dim = tensor.dims.map { extent in
            var dimension = ONNXShape.Dimension()
            if random.below(2) == 0 { dimension.dimValue = extent } else { dimension.dimParam = "n" }
            return dimension
        }
        input.append(port)
    }

    private mutating func changeOrder(_ random: inout SeededGenerator) {
        guard !node.isEmpty else { return }
        let (one, other) = (random.below(node.count), random.below(node.count))
        switch random.below(5) {
        case 0: node.swapAt(one, other)
        case 1: node.append(node[one])
        case 2: node.remove(at: one)
        case 3: if let name = random.one(of: names), !output.isEmpty { output[random.below(output.count)].name = name }
        default: if !input.isEmpty { input.append(input[random.below(input.count)]) }
        }
    }

    /// Takes a value of the graph, and makes an output of it.
    private mutating func addNode(_ random: inout SeededGenerator) {
        guard let definition = random.one(of: Operators.all) else { return }
        var added = ONNXNode()
        added.opType = definition.name
        added.domain = definition.domain
        let most = min(definition.inputs.upperBound, definition.inputs.lowerBound + 3)
        let inputs = definition.inputs.lowerBound + random.below(most - definition.inputs.lowerBound + 1)
        added.input = (0..<inputs).map { _ in random.one(of: names) ?? "" }
        added.output = (0..<max(definition.outputs.lowerBound, 1)).map { "added\(node.count)_\($0)" }
        node.append(added)
        guard random.below(2) == 0 else { return }
        var port = ONNXValueInfo()
        port.name = added.output[0]
        output.append(port)
    }
}

extension ONNXNode {
    fileprivate mutating func change(_ random: inout SeededGenerator, names: [String]) {
        let place = random.below(input.count)
        switch random.below(14) {
        case 0 where !input.isEmpty: input[place] = random.one(of: names) ?? ""
        case 1 where !input.isEmpty: input.remove(at: place)
        case 2: input.append(random.one(of: names) ?? "")
        case 3 where !output.isEmpty: output[random.below(output.count)] = random.one(of: names) ?? ""
        case 4 where output.count > 1: output.removeLast()
        case 5: output.append("more\(output.count)")
        case 6: if let definition = random.one(of: Operators.all) { opType = definition.name }
        case 7 where !attribute.isEmpty: attribute.remove(at: random.below(attribute.count))
        case 8, 9: addAttribute(&random)
        case _ where !attribute.isEmpty: attribute[random.below(attribute.count)].change(&random)
        default: addAttribute(&random)
        }
    }

    /// An attribute that the operator has in some version.
    private mutating func addAttribute(_ random: inout SeededGenerator) {
        let known = Operators.definition(opType, domain: domain)?.attributes.sorted { $0.key < $1.key } ?? []
        guard let (name, kind) = random.one(of: known) else { return }
        var added = ONNXAttribute()
        added.name = name
        switch kind {
        case .int:
            added.type = .int
            added.i = random.integer()
        case .float:
            added.type = .float
            added.f = random.float()
        case .ints:
            added.type = .ints
            added.ints = (0..<random.below(7)).map { _ in random.integer() }
        case .floats:
            added.type = .floats
            added.floats = (0..<random.below(5)).map { _ in random.float() }
        default: return
        }
        attribute.removeAll { $0.name == name }
        attribute.append(added)
    }
}

extension ONNXAttribute {
    fileprivate mutating func change(_ random: inout SeededGenerator) {
        switch type {
        case .int: i = random.integer(from: i)
        case .ints: random.change(&ints)
        case .float: f = random.float()
        case .floats where !floats.isEmpty: floats[random.below(floats.count)] = random.float()
        case .tensor: t.change(&random)
        case .graph: g.change(&random)
        case .string where !s.isEmpty:
            s[s.startIndex + random.below(s.count)] = UInt8(truncatingIfNeeded: random.next())
        default: type = ONNXAttribute.Kind(rawValue: random.below(15)) ?? .int
        }
    }
}

extension ONNXValueInfo {
    fileprivate mutating func change(_ random: inout SeededGenerator) {
        guard random.below(4) > 0, !type.tensorType.shape.dim.isEmpty else {
            type.tensorType.elemType = Int32(random.below(24))
            return
        }
        let place = random.below(type.tensorType.shape.dim.count)
        var dimension = ONNXShape.Dimension()
        if random.below(3) > 0 { dimension.dimValue = random.integer(from: 2) } else { dimension.dimParam = "n" }
        type.tensorType.shape.dim[place] = dimension
    }
}
