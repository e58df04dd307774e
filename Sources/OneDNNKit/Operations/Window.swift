/// How a kernel moves over the spatial dimensions; every array has one entry for each of them.
package struct Window: Hashable, Sendable {
    package var strides: [Int]
    /// From one tap of the kernel to the next; 1 is a dense kernel.
    package var dilations: [Int]
    /// What the source is thought to be extended by, before its first and after its last element.
    package var paddingBefore: [Int]
    package var paddingAfter: [Int]

    /// - Parameters:
    ///   - strides: Steps of the kernel.
    ///   - dilations: Steps within the kernel; all 1 when not given.
    ///   - paddingBefore: None when not given.
    ///   - paddingAfter: As `paddingBefore` when not given.
    package init(
        strides: [Int], dilations: [Int]? = nil, paddingBefore: [Int]? = nil, paddingAfter: [Int]? = nil
    ) {
        let before = paddingBefore ?? strides.map { _ in 0 }
        self.strides = strides
        self.dilations = dilations ?? strides.map { _ in 1 }
        self.paddingBefore = before
        self.paddingAfter = paddingAfter ?? before
    }

    /// Spatial size of what a convolution or pooling gives, rounded down:
    /// `(size + padding - (kernel - 1) * dilation - 1) / stride + 1`. To have it rounded up, pad more after.
    package func outputSize(_ size: [Int], kernel: [Int]) -> [Int] {
        size.indices.map {
            (size[$0] + paddingBefore[$0] + paddingAfter[$0] - (kernel[$0] - 1) * dilations[$0] - 1) / strides[$0] + 1
        }
    }

    /// Spatial size of what a transposed convolution gives: `(size - 1) * stride + (kernel - 1) * dilation + 1 - padding`.
    package func transposedOutputSize(_ size: [Int], kernel: [Int]) -> [Int] {
        size.indices.map {
            (size[$0] - 1) * strides[$0] + (kernel[$0] - 1) * dilations[$0] + 1 - paddingBefore[$0] - paddingAfter[$0]
        }
    }

    /// oneDNN's form: 64-bit, dilations counted from 0.
    var raw: (strides: [Int64], dilations: [Int64], before: [Int64], after: [Int64]) {
        (
            strides.map(Int64.init), dilations.map { Int64($0) - 1 }, paddingBefore.map(Int64.init),
            paddingAfter.map(Int64.init)
        )
    }

    /// - Throws: ``OneDNNError/Code/invalidArguments`` unless every array has `count` entries in range.
    func validate(spatialRank count: Int) throws(OneDNNError) {
        let isComplete = [strides, dilations, paddingBefore, paddingAfter].allSatisfy { $0.count == count }
        guard isComplete, (strides + dilations).allSatisfy({ $0 >= 1 }) else {
            throw OneDNNError(.invalidArguments, "")
        }
    }
}
