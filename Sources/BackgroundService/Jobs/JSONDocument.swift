import Foundation

/// JSON as the service writes and reads it: sorted keys, ISO-free numbers, one line.
enum JSONDocument {
    static func encode(_ value: some Encodable) -> String {
        String(decoding: data(value), as: UTF8.self)
    }

    static func data(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else {
            preconditionFailure("a document has a value that JSON cannot hold")
        }
        return data
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) -> Value? {
        try? JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
