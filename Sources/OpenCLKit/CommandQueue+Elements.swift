extension CommandQueue {
    /// Copies `elements` to the buffer's start.
    package func write<Element: BitwiseCopyable>(_ elements: [Element], to buffer: Buffer) throws(OpenCLError) {
        try elements.withUnsafeBufferPointer { pointer throws(OpenCLError) in
            try write(UnsafeRawBufferPointer(pointer), to: buffer)
        }
    }

    /// Waits for what was enqueued before and gives the first `count` elements of the buffer.
    package func read<Element: BitwiseCopyable & ExpressibleByIntegerLiteral>(
        _ type: Element.Type, count: Int, from buffer: Buffer
    ) throws(OpenCLError) -> [Element] {
        var elements = [Element](repeating: 0, count: count)
        try elements.withUnsafeMutableBufferPointer { pointer throws(OpenCLError) in
            try read(into: UnsafeMutableRawBufferPointer(pointer), from: buffer)
        }
        return elements
    }
}
