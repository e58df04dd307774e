import COpenCL
import Foundation
import OpenCLKit
import TemporaryFolders
import Testing

/// The OpenCL these tests run on: Debian's PoCL. Its absence is a failure, not a skip.
enum Fixture {
    static func device(of library: OpenCLLibrary) throws -> Device {
        let devices = try library.platforms().flatMap { platform throws in try platform.devices() }
        return try #require(
            devices.first { $0.info.platformName == "Portable Computing Language" },
            "PoCL is missing: install pocl-opencl-icd")
    }

    static func context() throws -> Context {
        try Context(device: device(of: .open()))
    }

    /// Adds `params.step` times its own index to each of `count` numbers.
    static let source = """
        typedef struct { uint count; uint step; } ramp_params;
        __kernel void ramp(__global const uint *in, __global uint *out, const ramp_params p) {
            const uint i = (uint)get_global_id(0);
            if (i < p.count)
                out[i] = in[i] + i * p.step;
        }
        __kernel void transpose(__global const uint *in, __global uint *out, const uint width, const uint height) {
            const uint x = (uint)get_global_id(0), y = (uint)get_global_id(1);
            if (x < width && y < height)
                out[x * height + y] = in[y * width + x];
        }
        __kernel void group_sum(__global const uint *in, __global uint *out, __local uint *scratch) {
            const uint l = (uint)get_local_id(0);
            scratch[l] = in[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            if (l == 0) {
                uint sum = 0;
                for (uint i = 0; i < get_local_size(0); ++i)
                    sum += scratch[i];
                out[get_group_id(0)] = sum;
            }
        }
        """

    struct RampParams: BitwiseCopyable {
        var count: UInt32
        var step: UInt32
    }

    /// Runs `ramp` over 1 000 numbers and compares with plain Swift.
    static func rampIsRight(with program: Program) throws -> Bool {
        let context = program.context
        let queue = try CommandQueue(context: context)
        let given = (0..<1_000).map { UInt32($0) &* 7 }
        let input = try Buffer(byteCount: 4_000, in: context)
        let output = try Buffer(byteCount: 4_000, kind: .hostAccessible, in: context)
        try queue.write(given, to: input)
        let kernel = try Kernel("ramp", in: program)
        try kernel.setArgument(0, input)
        try kernel.setArgument(1, output)
        try kernel.setArgument(2, value: RampParams(count: 1_000, step: 3))
        try queue.enqueue(kernel, global: 1_000, local: 64)
        try queue.flush()
        let found = try queue.read(UInt32.self, count: 1_000, from: output)
        return found == given.enumerated().map { $1 + UInt32($0) * 3 }
    }
}

extension TemporaryFolder {
    static func entries(of path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    static func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

    static func read(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
}
