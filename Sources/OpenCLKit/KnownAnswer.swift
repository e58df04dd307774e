/// A small kernel whose result is known, run before a device is trusted with pictures.
package enum KnownAnswer {
    /// What went wrong, in the order of the steps.
    package enum Step: String, Codable, Sendable {
        case context, build, run
    }

    /// Work-items; odd on purpose, so that the last work-group is not full.
    private static let itemCount = 4_093

    /// Bytes, 32-bit products, shifts and vectors: the arithmetic of the pixel kernels.
    private static let source = """
        __kernel void known_answer(__global const uchar4 *in, __global uint *out, const uint count, const int4 weights) {
            const uint i = (uint)get_global_id(0);
            if (i >= count)
                return;
            const int4 terms = convert_int4(in[i]) * weights;
            const int sum = terms.x + terms.y + terms.z + terms.w;
            const int level = clamp((sum + 512) >> 10, 0, 255);
            out[i] = ((uint)level << 24) ^ ((uint)sum * 2654435761u + i);
        }
        """

    private static let weights = SIMD4<Int32>(217, 733, -74, 148)

    /// Runs the kernel.
    ///
    /// - Parameters:
    ///   - device: The device to try.
    ///   - onStep: Called before each step, for telling where a driver crashed or hung.
    /// - Returns: Whether every number came out right.
    /// - Throws: ``OpenCLError`` when the driver refuses a call.
    package static func holds(on device: Device, onStep: (Step) -> Void = { _ in }) throws(OpenCLError) -> Bool {
        onStep(.context)
        let context = try Context(device: device)
        let queue = try CommandQueue(context: context)
        onStep(.build)
        let program = try Program.build(source: source, options: "", in: context)
        let kernel = try Kernel("known_answer", in: program)
        onStep(.run)
        let given = (0..<UInt32(itemCount)).map { $0 &* 0x9E37_79B9 ^ $0 >> 3 }
        let input = try Buffer(byteCount: itemCount * 4, in: context)
        let output = try Buffer(byteCount: itemCount * 4, in: context)
        try queue.write(given, to: input)
        try kernel.setArgument(0, input)
        try kernel.setArgument(1, output)
        try kernel.setArgument(2, value: UInt32(itemCount))
        try kernel.setArgument(3, value: weights)
        try queue.enqueue(kernel, global: itemCount, local: min(64, kernel.maxWorkGroupSize))
        return try queue.read(UInt32.self, count: itemCount, from: output) == expected(given)
    }

    /// The kernel in plain Swift.
    private static func expected(_ given: [UInt32]) -> [UInt32] {
        given.enumerated().map { index, word in
            let bytes = SIMD4<Int32>(
                Int32(word & 255), Int32(word >> 8 & 255), Int32(word >> 16 & 255), Int32(word >> 24))
            let sum = (bytes &* weights).wrappedSum()
            let level = UInt32(min(max((sum + 512) >> 10, 0), 255))
            return level << 24 ^ (UInt32(bitPattern: sum) &* 2_654_435_761 &+ UInt32(index))
        }
    }
}
