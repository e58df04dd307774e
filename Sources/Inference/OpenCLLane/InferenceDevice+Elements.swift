import Kernels
import OpenCLKit

extension InferenceDevice {
    /// Floats that are converted at a time.
    private static let part = 1 << 20
    /// Behind a part, what the last work-item may write.
    private static let slack = 256

    /// Copies numbers to a buffer, as the device keeps them.
    ///
    /// - Parameters:
    ///   - floats: Numbers of float32.
    ///   - buffer: The arena or the weights.
    ///   - element: Where they begin.
    /// - Throws: `OpenCLError`.
    func write(_ floats: UnsafeRawBufferPointer, to buffer: Buffer, at element: Int) throws(OpenCLError) {
        guard storage != .float32 else { return try queue.write(floats, to: buffer, at: 4 * element) }
        try eachPart(floats.count / 4) { first, count, staging throws(OpenCLError) in
            try queue.write(UnsafeRawBufferPointer(rebasing: floats[(4 * first)..<(4 * (first + count))]), to: staging)
            try convert("narrow", count, staging, buffer, at: element + first)
        }
    }

    /// Copies a table of integers, or of what else has 32 bits, to a buffer.
    ///
    /// - Parameters:
    ///   - words: What is copied.
    ///   - buffer: The arena or the weights.
    ///   - element: Where they begin.
    /// - Throws: `OpenCLError`.
    func write<Element: BitwiseCopyable>(
        words: [Element], to buffer: Buffer, at element: Int
    ) throws(OpenCLError) {
        try words.withUnsafeBufferPointer { elements throws(OpenCLError) in
            try queue.write(UnsafeRawBufferPointer(elements), to: buffer, at: storage.byteCount * element)
        }
    }

    /// Waits for what was enqueued before, then gives elements of a buffer as float32.
    ///
    /// - Parameters:
    ///   - floats: As many numbers of float32 as are read.
    ///   - buffer: The arena or the weights.
    ///   - element: The first that is read.
    /// - Throws: `OpenCLError`.
    func read(
        into floats: UnsafeMutableRawBufferPointer, from buffer: Buffer, at element: Int
    ) throws(OpenCLError) {
        guard storage != .float32 else { return try queue.read(into: floats, from: buffer, at: 4 * element) }
        try eachPart(floats.count / 4) { first, count, staging throws(OpenCLError) in
            try convert("widen", count, staging, buffer, at: element + first)
            try queue.read(
                into: UnsafeMutableRawBufferPointer(rebasing: floats[(4 * first)..<(4 * (first + count))]),
                from: staging)
        }
    }

    private func roomForPart() throws(OpenCLError) -> Buffer {
        if let staging { return staging }
        let made = try Buffer(byteCount: 4 * (Self.part + Self.slack), in: context)
        staging = made
        return made
    }

    private func eachPart(
        _ count: Int, _ body: (_ first: Int, _ count: Int, _ staging: Buffer) throws(OpenCLError) -> Void
    ) throws(OpenCLError) {
        let staging = try roomForPart()
        for first in stride(from: 0, to: count, by: Self.part) {
            try body(first, min(Self.part, count - first), staging)
        }
    }

    private func convert(
        _ name: String, _ count: Int, _ staging: Buffer, _ buffer: Buffer, at element: Int
    ) throws(OpenCLError) {
        let kernel = try kernel(KernelName(name: name, tile: tuning.tile(columns: Int.max)))
        let parameters = bg_convert_params(place: Int32(element), count: Int32(count))
        try kernel.setArgument(0, buffer)
        try kernel.setArgument(1, staging)
        try kernel.setArgument(2, bytes: withUnsafeBytes(of: parameters) { Array($0) })
        try queue.enqueue(kernel, global: count.tiles(of: run).tiles(of: smallGroup) * smallGroup, local: smallGroup)
    }
}
