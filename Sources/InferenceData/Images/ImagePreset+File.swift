import Yams

extension ImagePreset {
    private static let largestFileBytes = 64 << 10

    /// A built-in preset by its name, or one from a file in YAML or JSON, which may begin with `preset: NAME` and change
    /// only what it names.
    ///
    /// - Throws: `notReadable` where there is neither, `damaged` with the line for what cannot be read, `mismatch` for what
    ///   contradicts itself.
    package static func named(_ nameOrPath: String) throws(DataError) -> ImagePreset {
        if let found = builtIn.first(where: { $0.key == nameOrPath }) { return found.value }
        do throws(DataError) {
            let bytes = try withOpenFile(nameOrPath) { file throws(DataError) in
                try file.bytes(limit: largestFileBytes)
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw DataError.damaged("It is not text.")
            }
            return try parse(text)
        } catch  where error.code == .notReadable {
            throw .notReadable(
                "\"\(nameOrPath)\" is neither one of \(names.joined(separator: ", ")) nor a file that can be read.")
        }
    }

    /// A preset from the text of a file.
    ///
    /// - Throws: as ``named(_:)``.
    package static func parse(_ text: String) throws(DataError) -> ImagePreset {
        let node: Node?
        do {
            node = try Yams.compose(yaml: text)
        } catch {
            throw .damaged("The preset is neither YAML nor JSON: \(Self.reason(error)).")
        }
        guard let mapping = node?.mapping else { throw .damaged("The preset does not consist of keys with values.") }
        var preset = ImagePreset()
        if let name = mapping["preset"] {
            guard let found = builtIn.first(where: { $0.key == name.string }) else {
                throw PresetValue("preset", name).refused("one of \(names.joined(separator: ", "))")
            }
            preset = found.value
        }
        for (key, value) in mapping where key.string != "preset" {
            try preset.set(PresetValue(key.string ?? "", value))
        }
        // A base's size means nothing where the file takes its resize away.
        if preset.resize == .none, mapping["size"] == nil { preset.size = nil }
        if preset.resize == .letterbox, mapping["crop"] == nil { preset.crop = nil }
        try preset.validate()
        return preset
    }

    private mutating func set(_ value: PresetValue) throws(DataError) {
        switch value.key {
        case "resize": resize = try value.choice()
        case "size": size = try value.size()
        case "crop": crop = value.isNone ? nil : try value.size()
        case "filter": filter = try value.choice()
        case "channels": channels = try value.choice()
        case "layout": layout = try value.choice()
        case "scale": scale = try value.number()
        case "mean": mean = try value.numbers()
        case "std": std = try value.numbers()
        case "fill": fill = try value.color()
        case "reducedDecoding": reducedDecoding = try value.flag()
        default: throw value.unknownKey(Self.keys.map(\.name))
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            "line \(mark.line): \(problem)"
        case .duplicatedKeysInMapping(let duplicates, let context):
            "line \(context.mark.line): \(duplicates.map(\.description).min() ?? "a key") is given twice"
        default: "its syntax is wrong"
        }
    }
}

/// A value in a preset file.
private struct PresetValue {
    let key: String
    private let node: Node

    init(_ key: String, _ node: Node) {
        self.key = key
        self.node = node
    }

    private var line: String { node.mark.map { "Line \($0.line): " } ?? "" }

    func refused(_ wanted: String) -> DataError { .damaged("\(line)\"\(key)\" needs \(wanted).") }

    func unknownKey(_ keys: [String]) -> DataError {
        .damaged("\(line)\"\(key.prefix(40))\" is no key of a preset; they are \(keys.joined(separator: ", ")).")
    }

    var isNone: Bool { node.string == "none" }

    func choice<Value: RawRepresentable & CaseIterable>() throws(DataError) -> Value where Value.RawValue == String {
        guard let value = node.string.flatMap(Value.init(rawValue:)) else {
            throw refused("one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// One side of a square, `WIDTHxHEIGHT`, or a list of both.
    func size() throws(DataError) -> ImagePreset.Size {
        let sides: [Int?] =
            if let list = node.sequence {
                list.map(\.int)
            } else {
                (node.string ?? "").split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
            }
        let known = sides.compactMap { $0 }
        guard known.count == sides.count, (1...2).contains(known.count), let width = known.first,
            let height = known.last
        else { throw refused("a side in pixels, or WIDTHxHEIGHT") }
        return ImagePreset.Size(width: width, height: height)
    }

    /// A decimal number, or a quotient such as `1/255`.
    private func number(_ node: Node) -> Double? {
        let parts = (node.string ?? "").split(separator: "/", omittingEmptySubsequences: false).map { Double($0) }
        switch parts.count {
        case 1: return parts[0]
        case 2:
            guard let above = parts[0], let below = parts[1] else { return nil }
            return above / below
        default: return nil
        }
    }

    func number() throws(DataError) -> Double {
        guard let value = number(node) else { throw refused("a number") }
        return value
    }

    func numbers() throws(DataError) -> [Double] {
        let values = (node.sequence.map { Array($0) } ?? [node]).map(number)
        let known = values.compactMap { $0 }
        guard known.count == values.count else { throw refused("numbers") }
        return known
    }

    /// One level of gray, or red, green and blue.
    func color() throws(DataError) -> [UInt8] {
        let codes = (node.sequence.map { Array($0) } ?? [node]).compactMap { $0.int.flatMap(UInt8.init(exactly:)) }
        switch codes.count {
        case 1: return [codes[0], codes[0], codes[0]]
        case 3: return codes
        default: throw refused("one number of 0 to 255, or three")
        }
    }

    func flag() throws(DataError) -> Bool {
        guard let flag = node.bool else { throw refused("true or false") }
        return flag
    }
}
