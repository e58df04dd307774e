import OneDNNKit
import Testing

@Suite struct ReorderTests {
    @Test func everyLayoutKeepsEveryElement() throws {
        for seed in 0..<UInt64(20) {
            var fixture = try Fixture(seed: seed)
            let dimensions =
                [fixture.pick(1...3), fixture.pick([1, 3, 16, 17])] + [fixture.pick(1...9), fixture.pick(1...9)]
            let tensor = Tensor.random(dimensions, using: &fixture.generator)
            let plain = try MemoryDescriptor(dimensions, .float32)
            let last = try MemoryDescriptor(dimensions, .float32, .channelsLast)
            let there = try fixture.reordered(tensor.buffer(.float32), plain, to: last)
            let (channels, plane) = (dimensions[1], dimensions[2] * dimensions[3])
            let expected = Tensor(dimensions) { i in
                let (n, position, c) = (i / (channels * plane), i / channels % plane, i % channels)
                return tensor.values[(n * channels + c) * plane + position]
            }
            #expect(Tensor(there, dimensions, .float32) == expected, "seed \(seed): \(dimensions)")
            #expect(Tensor(try fixture.reordered(there, last, to: plain), dimensions, .float32) == tensor)
        }
    }

    @Test(arguments: [DataType.bfloat16, .int8, .uint8, .int32]) func numbersAreRoundedToEven(type: DataType) throws {
        let fixture = try Fixture(seed: 0)
        var values: [Double] = [0, 0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, 254.5, 300, -300, 1.00390625, 1.01171875]
        if type == .bfloat16 { values.append(3.0e38) }
        let tensor = Tensor([values.count], values)
        let source = try MemoryDescriptor(tensor.dimensions, .float32)
        let destination = try MemoryDescriptor(tensor.dimensions, type)
        let result = try fixture.reordered(tensor.buffer(.float32), source, to: destination)
        #expect(Tensor(result, tensor.dimensions, type).values == values.map { Tensor.rounded($0, to: type) })
    }
}
