import OneDNNKit
import Testing

@Suite struct MemoryDescriptorTests {
    @Test func sizesAndNamesAreThoseOfTheLayout() throws {
        let plain = try MemoryDescriptor([2, 3, 4, 5], .float32)
        #expect(plain.byteCount == 480 && plain.layoutName == "abcd" && plain.elementCount == 120)
        let last = try MemoryDescriptor([2, 3, 4, 5], .bfloat16, .channelsLast)
        #expect(last.byteCount == 240 && last.layoutName == "acdb")
        let open = try MemoryDescriptor([2, 3, 4, 5], .int8, .chosenByPrimitive)
        #expect(open.isChosenByPrimitive && open.byteCount == 0 && open.layoutName == "any")
        let strided = try MemoryDescriptor([2, 3], .uint8, strides: [8, 1])
        #expect(strided.byteCount == 16 && strided.layoutName == "ab")
        #expect(plain != last)
        #expect(try plain == last.with(.plain, .float32))
    }

    @Test func permutedDimensionsLieWhereTheyLay() throws {
        let plain = try MemoryDescriptor([2, 3, 5], .float32)
        let permuted = try plain.permuted([2, 0, 1])
        #expect(permuted.dimensions == [5, 2, 3])
        #expect(try permuted == MemoryDescriptor([5, 2, 3], .float32, strides: [1, 15, 5]))
        #expect(try plain.transposed() == MemoryDescriptor([2, 5, 3], .float32, strides: [15, 1, 5]))
        let error = #expect(throws: OneDNNError.self) { try plain.permuted([0, 0, 1]) }
        #expect(error?.code == .invalidArguments)
    }

    @Test func aPartLiesInTheWholeAsByItself() throws {
        func descriptor(_ dimensions: [Int], _ layout: MemoryDescriptor.Layout) throws -> MemoryDescriptor {
            try MemoryDescriptor(dimensions, .float32, layout)
        }
        let whole = try descriptor([1, 48, 4, 5], .channelBlocks(of: 16))
        let part = try descriptor([1, 16, 4, 5], .channelBlocks(of: 16))
        #expect(whole.byteOffset(of: part, axis: 1, start: 32) == 32 * 20 * 4)
        #expect(whole.byteOffset(of: part, axis: 1, start: 8) == nil)
        #expect(whole.byteOffset(of: part, axis: 1, start: 48) == nil)
        #expect(try whole.byteOffset(of: descriptor([1, 8, 4, 5], .channelBlocks(of: 16)), axis: 1, start: 0) == nil)
        #expect(try whole.byteOffset(of: descriptor([1, 16, 4, 5], .plain), axis: 1, start: 0) == nil)
        #expect(try whole.byteOffset(of: descriptor([1, 16, 5, 4], .channelBlocks(of: 16)), axis: 1, start: 0) == nil)
        let plain = try descriptor([2, 7, 3], .plain)
        #expect(try plain.byteOffset(of: descriptor([1, 7, 3], .plain), axis: 0, start: 1) == 84)
        #expect(try plain.byteOffset(of: descriptor([2, 2, 3], .plain), axis: 1, start: 1) == nil)
        let one = try descriptor([1, 7, 3], .plain)
        #expect(try one.byteOffset(of: descriptor([1, 2, 3], .plain), axis: 1, start: 4) == 48)
    }

    @Test(arguments: [[], [0], [3, -1], Array(repeating: 1, count: 13), [1 << 40, 1 << 40]])
    func dimensionsThatCannotBeAreRefused(dimensions: [Int]) throws {
        for layout in [MemoryDescriptor.Layout.plain, .channelsLast, .chosenByPrimitive] {
            let error = #expect(throws: OneDNNError.self) { try MemoryDescriptor(dimensions, .float32, layout) }
            #expect(error?.code == .invalidArguments)
        }
    }

    @Test func whatContradictsItselfIsRefusedWithShapes() throws {
        let engine = try CPUEngine()
        let product = MatrixProduct(
            try MemoryDescriptor([4, 5], .float32), weights: try MemoryDescriptor([6, 7], .float32),
            destination: try MemoryDescriptor([4, 7], .float32))
        let error = #expect(throws: OneDNNError.self) { try Primitive(product, on: engine) }
        #expect(error?.code == .invalidArguments && error?.status == "dnnl_invalid_arguments")
        #expect(error?.request.contains("4x5 float32") == true && error?.request.contains("6x7 float32") == true)
        let window = Window(strides: [1])
        let pooling = Pooling(
            .maximum, try MemoryDescriptor([1, 1, 4, 4], .float32),
            destination: try MemoryDescriptor([1, 1, 4, 4], .float32), kernel: [1, 1], window: window)
        #expect(throws: OneDNNError.self) { try Primitive(pooling, on: engine) }
    }
}
