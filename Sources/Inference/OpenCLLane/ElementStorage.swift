/// In what numbers a device keeps values and weights between kernels, which compute and sum in float32 in either case.
package enum ElementStorage: String, Codable, Hashable, Sendable, CaseIterable {
    case float32
    /// 11 significant bits, up to 65504 in magnitude; larger numbers become that.
    case float16

    /// Of one element.
    package var byteCount: Int { self == .float32 ? 4 : 2 }

    /// What the compiler is told.
    var options: String { self == .float32 ? "" : " -DSTORED_HALF" }

    /// Elements that take as much as some integers or floats of 32 bits.
    func elements(words: Int) -> Int { words * 4 / byteCount }
}
