import Foundation
import ONNXFormat
import SystemText

/// Makes tensors of their messages, with data inside the model or in files beside it.
struct TensorReader {
    /// The folder of the model; data that the model says is elsewhere is refused.
    var folder: String?
    /// What may still be read from files beside the model.
    var limitBytes: Int
    /// The model itself, where bytes of its tensors are still to be read.
    var model: RegularFile?
    /// Where large tensors get their elements from, those of at least `largeWeightBytes` in files.
    private let weights: ModelImporter.Weights
    private let largeWeightBytes: Int
    /// Of tensors that get their elements later.
    let deferredReads: DeferredReads?
    private var files: [String: RegularFile] = [:]

    /// Of the files that were read, as the model names them.
    var locations: [String] { files.keys.sorted() }

    init(
        folder: String?, limitBytes: Int, weights: ModelImporter.Weights = .read, largeWeightBytes: Int = .max
    ) {
        self.folder = folder
        self.limitBytes = limitBytes
        self.weights = weights
        self.largeWeightBytes = largeWeightBytes
        deferredReads = weights == .deferred ? DeferredReads() : nil
    }

    /// - Parameters:
    ///   - message: What the model says of the tensor.
    ///   - place: Of its bytes in the file of the model, where they are not in the message.
    /// - Returns: The tensor with its elements.
    /// - Throws: `damaged` where size, type and data contradict each other, `notReadable` for missing files.
    mutating func tensor(_ message: ONNXTensor, _ place: Range<Int>? = nil) throws(ModelError) -> Tensor {
        do throws(ModelError) {
            return try checked(message, place)
        } catch {
            throw error.at("tensor \"\(message.name)\"")
        }
    }

    private mutating func checked(_ message: ONNXTensor, _ place: Range<Int>?) throws(ModelError) -> Tensor {
        guard let type = ElementType(onnxNumber: message.dataType) else {
            throw .damaged("there is no element type \(message.dataType)")
        }
        let shape = message.dims.map { Int($0) }
        let count = try Extents.count(shape)
        if message.dataLocation == .external { return try external(message, type, shape, count) }
        if type == .string {
            try Self.expect(message.stringData.count, count, "strings")
            var strings: [String] = []
            for bytes in message.stringData {
                guard let string = String(validating: bytes, as: UTF8.self) else {
                    throw .damaged("a string is not valid UTF-8")
                }
                strings.append(string)
            }
            return try Tensor(strings: strings, shape: shape)
        }
        if let place, let model {
            let (bytes, overflow) = count.multipliedReportingOverflow(by: type.byteCount)
            guard !overflow, place.count == bytes else {
                throw .damaged("\(place.count) bytes do not fill \(type.rawValue)\(shape)")
            }
            return try tensor(type, shape, in: model, offset: place.lowerBound)
        }
        if !message.rawData.isEmpty {
            let (bytes, overflow) = count.multipliedReportingOverflow(by: type.byteCount)
            guard !overflow, message.rawData.count == bytes else {
                throw .damaged("\(message.rawData.count) bytes do not fill \(type.rawValue)\(shape)")
            }
            return try Tensor(type, shape: shape, sharing: message.rawData)
        }
        switch type {
        case .float32:
            try Self.expect(message.floatData.count, count, "values")
            return try Tensor(type, shape: shape, elements: message.floatData)
        case .float64:
            try Self.expect(message.doubleData.count, count, "values")
            return try Tensor(type, shape: shape, elements: message.doubleData)
        case .int64:
            try Self.expect(message.int64Data.count, count, "values")
            return try Tensor(type, shape: shape, elements: message.int64Data)
        case .uint32, .uint64:
            try Self.expect(message.uint64Data.count, count, "values")
            return try Tensor(type, shape: shape, integers: message.uint64Data.map { Int64(bitPattern: $0) })
        case .float16, .bfloat16:
            try Self.expect(message.int32Data.count, count, "values")
            return try Tensor(type, shape: shape, elements: message.int32Data.map { UInt16(truncatingIfNeeded: $0) })
        default:
            try Self.expect(message.int32Data.count, count, "values")
            return try Tensor(type, shape: shape, integers: message.int32Data.map { Int64($0) })
        }
    }

    private static func expect(_ found: Int, _ count: Int, _ what: String) throws(ModelError) {
        guard found == count else { throw .damaged("it has \(found) \(what), and its shape asks for \(count)") }
    }

    // MARK: Data beside the model

    private mutating func external(
        _ message: ONNXTensor, _ type: ElementType, _ shape: [Int], _ count: Int
    ) throws(ModelError) -> Tensor {
        var entries: [String: String] = [:]
        for entry in message.externalData { entries[entry.key] = entry.value }
        guard type != .string else { throw .damaged("strings cannot lie in another file") }
        guard let location = entries["location"] else { throw .damaged("it does not say in which file its data lies") }
        let file = try file(location)
        let offset = try Self.number(entries["offset"]) ?? 0
        guard offset <= file.byteCount else {
            throw .damaged("its data begins at byte \(offset) of \(location), which has \(file.byteCount)")
        }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: type.byteCount)
        let length = try Self.number(entries["length"]) ?? bytes
        guard !overflow, length == bytes else {
            throw .damaged("\(length) bytes do not fill \(type.rawValue)\(shape)")
        }
        guard length <= file.byteCount - offset else {
            throw .damaged(
                "its \(length) bytes from byte \(offset) on go beyond the end of \(location), which has \(file.byteCount)"
            )
        }
        guard length <= limitBytes else { throw .tooLarge("the data beside the model is more than was allowed") }
        limitBytes -= length
        return try tensor(type, shape, in: file, offset: offset)
    }

    /// The elements that lie in a file; for large tensors as it was wanted.
    private func tensor(
        _ type: ElementType, _ shape: [Int], in file: RegularFile, offset: Int
    ) throws(ModelError) -> Tensor {
        if try Extents.count(shape) * type.byteCount >= largeWeightBytes {
            if weights == .leftOut { return try Tensor(zeros: type, shape: shape) }
            if let deferredReads {
                return try Tensor(deferred: type, shape: shape) { deferredReads.read(file, into: $0, offset: offset) }
            }
        }
        return try Tensor(unset: type, shape: shape) { bytes throws(ModelError) in
            try file.read(into: bytes, offset: offset)
        }
    }

    private static func number(_ text: String?) throws(ModelError) -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), number >= 0 else { throw .damaged("\"\(text)\" is no offset or length") }
        return number
    }

    /// Opens a file below the folder of the model. A model says where its data lies and may have come from anywhere, so the
    /// path that it writes, and the folder where that leads, are in its own folder; the file found there may be a link to
    /// another place, as caches of model hubs have them: whoever made that link had the say over the folder.
    private mutating func file(_ location: String) throws(ModelError) -> RegularFile {
        guard let folder else { throw .notReadable("its data lies in a file, and the model came without a folder") }
        if let file = files[location] { return file }
        let parts = location.split(separator: "/", omittingEmptySubsequences: false)
        guard !location.isEmpty, !location.hasPrefix("/"), !parts.contains(".."), !location.contains("\0") else {
            throw .damaged("its data lies in \"\(location)\", which is outside the folder of the model")
        }
        let root = folder.isEmpty ? "." : folder
        guard let base = Self.realPath(root) else { throw .notReadable("the folder \(folder) cannot be read") }
        let parent = ([root] + parts.dropLast().map(String.init)).joined(separator: "/")
        if let place = Self.realPath(parent), place != base, !place.hasPrefix(base.hasSuffix("/") ? base : base + "/") {
            throw .damaged("its data lies in \"\(location)\", behind a link to a folder outside that of the model")
        }
        let file = try RegularFile(path: "\(root)/\(location)")
        files[location] = file
        return file
    }

    /// A folder's path without links; nil where there is none.
    private static func realPath(_ path: String) -> String? {
        guard let real = realpath(path.systemBytes, nil) else { return nil }
        defer { free(real) }
        return String(system: real)
    }
}
