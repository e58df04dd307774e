import Foundation
import ONNXFormat
import SeededNumbers

extension ONNXTensor {
    mutating func change(_ random: inout SeededGenerator) {
        switch random.below(8) {
        case 0: random.change(&dims)
        case 1: dims = dims.reversed()
        case 2: dataType = Int32(random.below(24))
        case 3 where !rawData.isEmpty: rawData.removeLast(random.below(rawData.count))
        case 4 where random.below(8) == 0: makeExternal(&random)
        case 5: reshape(&random)
        default: changeElement(&random)
        }
    }

    private mutating func changeElement(_ random: inout SeededGenerator) {
        switch dataType {
        case 1 where rawData.count >= 4:
            write(random.float(), at: random.below(rawData.count / 4) * 4)
        case 7 where rawData.count >= 8:
            let offset = random.below(rawData.count / 8) * 8
            let old = rawData.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Int64.self) }
            write(random.integer(from: old), at: offset)
        case _ where !rawData.isEmpty:
            let place = rawData.startIndex + random.below(rawData.count)
            rawData[place] = random.below(2) == 0 ? 255 : UInt8(truncatingIfNeeded: random.next())
        case _ where !int64Data.isEmpty: random.change(&int64Data)
        case _ where !floatData.isEmpty: floatData[random.below(floatData.count)] = random.float()
        case _ where !int32Data.isEmpty:
            int32Data[random.below(int32Data.count)] = Int32(truncatingIfNeeded: random.integer())
        default: break
        }
    }

    private mutating func write<Number>(_ number: Number, at offset: Int) {
        let start = rawData.startIndex + offset
        withUnsafeBytes(of: number) { rawData.replaceSubrange(start..<(start + $0.count), with: $0) }
    }

    /// The same elements with other extents, or none.
    private mutating func reshape(_ random: inout SeededGenerator) {
        let count = dims.reduce(1, &*)
        switch random.below(4) {
        case 0: dims = [count]
        case 1: dims.insert(1, at: random.below(dims.count))
        case 2: if let place = dims.firstIndex(of: 1) { dims.remove(at: place) }
        default:
            dims[random.below(dims.count)...] = [0]
            rawData = Data()
            int64Data = []
            floatData = []
            int32Data = []
        }
    }

    private mutating func makeExternal(_ random: inout SeededGenerator) {
        let places = ["data", "./data", "../data", "/etc/passwd", "", "data/", ".", "nowhere", "a/../data", "data\0"]
        dataLocation = .external
        externalData = ["location", "offset", "length"].map { key in
            var pair = ONNXStringPair()
            pair.key = key
            pair.value = key == "location" ? places[random.below(places.count)] : "\(random.integer(from: 8))"
            return pair
        }
    }
}
