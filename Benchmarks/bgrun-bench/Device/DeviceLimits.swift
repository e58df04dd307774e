import Foundation
import OpenCLKit

/// What a device can do at most, measured with kernels that do nothing else.
struct DeviceLimits {
    /// Bytes read and written in a second by a copy within the device.
    let bytesPerSecond: Double
    /// Single-precision multiply-adds in a second; an addition, a product or a comparison takes as long.
    let multiplyAddsPerSecond: Double

    private static let chains = 16
    private static let source = """
        __kernel void copy(__global const float4 *from, __global float4 *to) {
            to[get_global_id(0)] = from[get_global_id(0)];
        }
        __kernel void multiply_add(__global float *to, const int rounds) {
            float v[\(chains)];
            for (int i = 0; i < \(chains); ++i)
                v[i] = get_global_id(0) * 1e-6f + i;
            for (int round = 0; round < rounds; ++round)
                for (int i = 0; i < \(chains); ++i)
                    v[i] = mad(v[i], 0.999f, 0.25f);
            float sum = 0.0f;
            for (int i = 0; i < \(chains); ++i)
                sum += v[i];
            to[get_global_id(0)] = sum;
        }
        """

    init(_ device: Device, bytes: Int = 256 << 20, rounds: Int = 2_048) throws {
        let context = try Context(device: device)
        let queue = try CommandQueue(context: context)
        let program = try Program.build(source: Self.source, options: "-cl-std=CL1.2", in: context)
        let items = min(bytes, device.info.maxAllocationBytes) / 16
        let (from, to) = (
            try Buffer(byteCount: items * 16, in: context), try Buffer(byteCount: items * 16, in: context)
        )
        func seconds(_ kernel: Kernel, global: Int) throws -> Double {
            try bestSeconds(of: 10) {
                try queue.enqueue(kernel, global: global, local: 64)
                try queue.finish()
            }
        }
        let copy = try Kernel("copy", in: program)
        try copy.setArgument(0, from)
        try copy.setArgument(1, to)
        bytesPerSecond = Double(items) * 32 / (try seconds(copy, global: items))
        let multiply = try Kernel("multiply_add", in: program)
        try multiply.setArgument(0, to)
        try multiply.setArgument(1, value: Int32(rounds))
        let threads = min(device.info.computeUnits * 4_096, items * 4)
        multiplyAddsPerSecond = Double(threads * rounds * Self.chains) / (try seconds(multiply, global: threads))
    }

    /// Seconds that so many bytes and operations take at least.
    func seconds(bytes: Double, operations: Double) -> Double {
        max(bytes / bytesPerSecond, operations / multiplyAddsPerSecond)
    }
}

/// Wall time of the fastest of `count` runs, behind one that is not timed.
func bestSeconds(of count: Int, _ body: () throws -> Void) rethrows -> Double {
    try body()
    var best = Double.infinity
    for _ in 0..<count {
        let start = ContinuousClock.now
        try body()
        best = min(best, (ContinuousClock.now - start) / .seconds(1))
    }
    return best
}
