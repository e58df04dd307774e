import Foundation

/// Elements of one type in row-major order. Copies share memory; nothing is written after it was made.
package struct Tensor: Sendable {
    package let elementType: ElementType
    package let shape: [Int]
    /// Number of elements.
    package let count: Int
    private let storage: TensorStorage

    /// A tensor that `fill` writes; its memory is zeroed and aligned for any vector type.
    ///
    /// - Throws: what ``Extents/count(_:)`` throws, `tooLarge` where the bytes leave `Int`, and what `fill` throws.
    package init(
        _ elementType: ElementType, shape: [Int],
        fill: (UnsafeMutableRawBufferPointer) throws(ModelError) -> Void = { _ in }
    ) throws(ModelError) {
        try self.init(unset: elementType, shape: shape) { bytes throws(ModelError) in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            try fill(bytes)
        }
    }

    /// A tensor whose memory, aligned in the same way, holds anything until `fill` has written all of it.
    ///
    /// - Throws: as the other initialisers.
    package init(
        unset elementType: ElementType, shape: [Int],
        fill: (UnsafeMutableRawBufferPointer) throws(ModelError) -> Void
    ) throws(ModelError) {
        precondition(elementType != .string, "strings have a tensor of their own")
        count = try Extents.count(shape)
        let (bytes, overflow) = count.multipliedReportingOverflow(by: elementType.byteCount)
        if overflow { throw .tooLarge("the shape \(shape) has more bytes than can be counted") }
        self.elementType = elementType
        self.shape = shape
        storage = TensorStorage(byteCount: bytes)
        try fill(storage.bytes)
    }

    /// Zeros, which take no memory while they are only read.
    ///
    /// - Throws: as the other initialisers.
    init(zeros elementType: ElementType, shape: [Int]) throws(ModelError) {
        precondition(elementType != .string, "strings have a tensor of their own")
        let count = try Extents.count(shape)
        let (bytes, overflow) = count.multipliedReportingOverflow(by: elementType.byteCount)
        if overflow { throw .tooLarge("the shape \(shape) has more bytes than can be counted") }
        guard let storage = TensorStorage(zeroByteCount: bytes) else {
            throw .tooLarge("no room for \(bytes) bytes of the shape \(shape)")
        }
        self.init(elementType, shape, count, storage)
    }

    /// A tensor of bytes that are there already. They are not copied where they lie as the elements need.
    ///
    /// - Throws: as the other initialisers.
    init(_ elementType: ElementType, shape: [Int], sharing data: Data) throws(ModelError) {
        guard data.count >= 4096, let storage = TensorStorage(sharing: data) else {
            try self.init(elementType, shape: shape) { $0.copyBytes(from: data) }
            return
        }
        let count = try Extents.count(shape)
        precondition(data.count == count * elementType.byteCount, "\(data.count) bytes for the shape \(shape)")
        self.init(elementType, shape, count, storage)
    }

    /// A tensor whose memory is taken, and written by `fill`, when somebody first looks at the elements.
    ///
    /// - Throws: as the other initialisers.
    init(
        deferred elementType: ElementType, shape: [Int],
        fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) throws(ModelError) {
        precondition(elementType != .string, "strings have a tensor of their own")
        let count = try Extents.count(shape)
        let (bytes, overflow) = count.multipliedReportingOverflow(by: elementType.byteCount)
        if overflow { throw .tooLarge("the shape \(shape) has more bytes than can be counted") }
        self.init(elementType, shape, count, TensorStorage(deferred: DeferredBytes(byteCount: bytes, fill: fill)))
    }

    package init(strings: [String], shape: [Int]) throws(ModelError) {
        count = try Extents.count(shape)
        precondition(strings.count == count, "\(strings.count) strings for the shape \(shape)")
        elementType = .string
        self.shape = shape
        storage = TensorStorage(strings: strings)
    }

    private init(_ elementType: ElementType, _ shape: [Int], _ count: Int, _ storage: TensorStorage) {
        self.elementType = elementType
        self.shape = shape
        self.count = count
        self.storage = storage
    }

    package var byteCount: Int { storage.byteCount }

    /// The elements of a tensor of strings; empty for others.
    package var strings: [String] { storage.strings }

    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws(ModelError) -> R) throws(ModelError) -> R {
        try body(UnsafeRawBufferPointer(storage.bytes))
    }

    /// As ``withBytes(_:)``, for who looks once and makes something else of it: what lies in a file takes no memory afterwards.
    func withPassingBytes<R, Failure>(
        in scratch: ScratchBytes, _ body: (UnsafeRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        try storage.withPassingBytes(in: scratch, body)
    }

    /// Whether the elements are the other's, and not equal ones.
    func isCopy(of other: Tensor) -> Bool { storage === other.storage }

    /// The bytes, for as long as this tensor or a copy of it is held.
    var heldBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(storage.bytes) }

    /// Whether the elements are in memory, and not in a file until they are wanted.
    package var isHeld: Bool { storage.isHeld }

    /// The elements as `Element`, which must have the size of the element type.
    package func elements<Element: BitwiseCopyable>(as type: Element.Type) -> [Element] {
        precondition(MemoryLayout<Element>.stride == elementType.byteCount, "\(Element.self) is not \(elementType)")
        return [Element](storage.bytes.bindMemory(to: Element.self))
    }

    /// The same elements under another shape with as many of them.
    ///
    /// - Throws: `wrongValue` where the counts differ.
    package func reshaped(_ shape: [Int]) throws(ModelError) -> Tensor {
        guard try Extents.count(shape) == count else {
            throw .wrongValue("\(count) elements do not fill the shape \(shape)")
        }
        return Tensor(elementType, shape, count, storage)
    }
}

/// Memory of a tensor. It is written by the initialiser of the tensor only, before anybody else sees it, hence `Sendable`.
private final class TensorStorage: @unchecked Sendable {
    let byteCount: Int
    let strings: [String]
    private let held: UnsafeMutableRawBufferPointer
    /// Makes the bytes when they are first wanted; nil where they are there.
    private let deferred: DeferredBytes?
    /// Whose bytes they are; nil for own ones.
    private let owner: Data?
    /// They are pages of zeros that the kernel lends.
    private let isMapped: Bool

    var bytes: UnsafeMutableRawBufferPointer { deferred?.bytes ?? held }
    var isHeld: Bool { deferred?.isHeld ?? true }

    func withPassingBytes<R, Failure>(
        in scratch: ScratchBytes, _ body: (UnsafeRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        if let deferred { return try deferred.withBytes(in: scratch, body) }
        return try body(UnsafeRawBufferPointer(held))
    }

    private init(
        _ held: UnsafeMutableRawBufferPointer, byteCount: Int? = nil, strings: [String] = [], owner: Data? = nil,
        isMapped: Bool = false, deferred: DeferredBytes? = nil
    ) {
        self.held = held
        self.byteCount = byteCount ?? held.count
        self.strings = strings
        self.owner = owner
        self.isMapped = isMapped
        self.deferred = deferred
    }

    convenience init(byteCount: Int) { self.init(.allocate(byteCount: byteCount, alignment: 64)) }

    convenience init(deferred: DeferredBytes) {
        self.init(
            UnsafeMutableRawBufferPointer(start: nil, count: 0), byteCount: deferred.byteCount, deferred: deferred)
    }

    /// Nil where the kernel has no room.
    convenience init?(zeroByteCount byteCount: Int) {
        let start = mmap(nil, max(byteCount, 1), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let start, start != MAP_FAILED else { return nil }
        self.init(UnsafeMutableRawBufferPointer(start: start, count: byteCount), isMapped: true)
    }

    convenience init(strings: [String]) {
        self.init(.allocate(byteCount: 0, alignment: 64), strings: strings)
    }

    /// Bytes of this many have an object of their own, which stays where it is while it is held and nobody changes it; the
    /// data is kept for that. Nil where they are not aligned.
    convenience init?(sharing data: Data) {
        guard let start = data.withUnsafeBytes({ $0.baseAddress }), Int(bitPattern: start) % 16 == 0 else { return nil }
        self.init(
            UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(mutating: start), count: data.count),
            owner: data)
    }

    deinit {
        if isMapped {
            munmap(held.baseAddress, max(held.count, 1))
        } else if owner == nil, deferred == nil {
            held.deallocate()
        }
    }
}
