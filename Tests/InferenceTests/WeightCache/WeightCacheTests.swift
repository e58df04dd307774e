import CChecksum
import Foundation
import Glibc
import Inference
import TemporaryFolders
import Testing

/// Weights that were laid out once are taken from the cache, and nothing else is.
@Suite struct WeightCacheTests {
    private let folder: TemporaryFolder
    private let model: String

    init() throws {
        folder = try TemporaryFolder()
        model = folder.file("model.onnx")
        try folder.write("a model", to: "model.onnx")
    }

    /// Two convolutions, the first of which takes a batch normalisation in, and a product.
    private static func network(seed: UInt64 = 5) throws -> (fixture: GraphFixture, model: Model) {
        var fixture = GraphFixture(seed: seed)
        try fixture.input("x", [1, 16, 9, 8])
        for name in ["v", "w"] { try fixture.constant(name, [32, 16, 3, 3], in: -0.2...0.2) }
        for name in ["scale", "shift", "mean"] { try fixture.constant(name, [32]) }
        try fixture.constant("variance", [32], in: 1...2)
        try fixture.constant("u", [16, 32, 1, 1])
        try fixture.constant("m", [32, 24])
        let pads: [String: Attribute] = ["pads": .ints([1, 1, 1, 1])]
        return (
            fixture,
            fixture.model([
                node("Conv", ["x", "v"], "n", pads),
                node("BatchNormalization", ["n", "scale", "shift", "mean", "variance"], "b"),
                node("Conv", ["b", "u"], "c"), node("Relu", ["c"], "r"), node("Conv", ["r", "w"], "d", pads),
                node("GlobalAveragePool", ["d"], "g"), node("Flatten", ["g"], "f"), node("MatMul", ["f", "m"], "y"),
            ])
        )
    }

    private static func bytes(_ laidOut: LaidOutWeights?, seed: UInt64 = 5) throws -> [Float] {
        let (fixture, model) = try network(seed: seed)
        let outputs = try CompiledModel(model, laidOut: laidOut).execute(fixture.inputs)
        return try #require(outputs["y"]).elements(as: Float.self)
    }

    private func cache(capacityBytes: Int = 1 << 30) throws -> WeightCache {
        try #require(WeightCache(folder: folder.file("cache"), capacityBytes: capacityBytes, quiet: .zero))
    }

    private func key(_ cache: WeightCache, precision: String = "fp32", program: String = "1") throws -> WeightCache.Key
    {
        try #require(cache.key(files: [model], precision: precision, program: program, readsAll: true))
    }

    /// Writes what was laid out through a sheet.
    private func keep(_ laidOut: LaidOutWeights, _ key: WeightCache.Key, in cache: WeightCache) throws -> Bool {
        let sheet = try #require(cache.sheet(for: key))
        defer { close(sheet) }
        _ = try #require(laidOut.write(to: sheet, key: key.digest, limit: key.limitBytes))
        return cache.keep(sheet, as: key)
    }

    private func path(_ key: WeightCache.Key) -> String { folder.file("cache/weights/\(key.digest.hexadecimal)") }

    private func entry(_ key: WeightCache.Key) -> WeightEntry? {
        let descriptor = open(path(key), O_RDONLY)
        defer { close(descriptor) }
        return WeightEntry(descriptor: descriptor, key: key.digest)
    }

    @Test func whatWasLaidOutOnceIsTakenAndGivesTheSameBytes() throws {
        let (cache, plain) = (try cache(), try Self.bytes(nil))
        let key = try key(cache)
        #expect(cache.open(key) == nil)
        let first = LaidOutWeights(nil)
        #expect(try Self.bytes(first) == plain)
        // The folded weights are no initialiser of the file.
        #expect(first.madeByteCount > 0 && first.foundByteCount == 0)
        #expect(try keep(first, key, in: cache))
        #expect(cache.size.entries == 1 && cache.size.bytes >= first.madeByteCount)

        let descriptor = try #require(cache.open(key))
        let found: WeightEntry = try #require(WeightEntry(descriptor: descriptor, key: key.digest))
        close(descriptor)
        let second = LaidOutWeights(found)
        #expect(try Self.bytes(second) == plain)
        #expect(second.madeByteCount == 0 && second.foundByteCount == first.madeByteCount)
        // Once more by the same process, for another size of batch perhaps.
        #expect(try Self.bytes(second) == plain && second.foundByteCount == first.madeByteCount)
    }

    /// What makes the test above able to fail: weights that are not the model's would be taken.
    @Test func theWeightsOfTheEntryAreThoseThatAreComputedWith() throws {
        let (cache, plain) = (try cache(), try Self.bytes(nil))
        let (key, other) = (try key(cache), LaidOutWeights(nil))
        _ = try Self.bytes(other, seed: 6)
        #expect(try keep(other, key, in: cache))
        let stored: WeightEntry = try #require(entry(key))
        let misled = LaidOutWeights(stored)
        #expect(try Self.bytes(misled) != plain)
        #expect(misled.madeByteCount == 0)
    }

    @Test func otherContentPrecisionOrProgramIsAnotherKey() throws {
        let cache = try cache()
        let first = try key(cache).digest
        #expect(try key(cache).digest == first)
        #expect(try key(cache, precision: "bf16").digest != first)
        #expect(try key(cache, program: "2").digest != first)
        let copy = folder.file("copy.onnx")
        try FileManager.default.copyItem(atPath: model, toPath: copy)
        #expect(cache.key(files: [copy], precision: "fp32", program: "1", readsAll: true)?.digest == first)
        #expect(cache.key(files: [model, copy], precision: "fp32", program: "1", readsAll: true)?.digest != first)
        #expect(cache.key(files: [folder.path], precision: "fp32", program: "1", readsAll: true) == nil)
        try Data("another model".utf8).write(to: URL(filePath: model))
        #expect(try key(cache).digest != first)
    }

    /// Every byte of header and table, some bytes of weights, and every length up to the first weights.
    @Test func damagedEntriesAreNotTaken() throws {
        let (cache, plain) = (try cache(), try Self.bytes(nil))
        let (key, made) = (try key(cache), LaidOutWeights(nil))
        _ = try Self.bytes(made)
        #expect(try keep(made, key, in: cache))
        let sound = try [UInt8](Data(contentsOf: URL(filePath: path(key))))
        let rows = Int(sound[40])
        #expect(rows >= 2)
        let head = 64 * (rows + 1)

        for place in 0..<head {
            var bytes = sound
            bytes[place] ^= 1 << UInt8(place % 8)
            try write(bytes, to: path(key))
            #expect(entry(key) == nil, "byte \(place)")
        }
        for length in Array(stride(from: 0, through: head, by: 7)) + [sound.count - 1, sound.count + 64] {
            try write(Array((sound + [UInt8](repeating: 0, count: 64)).prefix(length)), to: path(key))
            #expect(entry(key) == nil, "length \(length)")
        }
        for row in 1...rows {
            let start = sound[(64 * row + 32)..<(64 * row + 40)].reversed().reduce(0) { $0 << 8 | Int($1) }
            var bytes = sound
            bytes[start + 5] ^= 0x10
            try write(bytes, to: path(key))
            let stored: WeightEntry = try #require(entry(key))
            let found = LaidOutWeights(stored)
            #expect(try Self.bytes(found) == plain, "part \(row)")
            #expect(found.madeByteCount > 0 && found.foundByteCount > 0, "part \(row)")
            #expect(found.madeByteCount + found.foundByteCount == made.madeByteCount, "part \(row)")
        }
    }

    /// Checksums that are right say nothing about numbers that are not.
    @Test func whatHeadersClaimIsHeldAgainstTheFile() throws {
        let (cache, plain) = (try cache(), try Self.bytes(nil))
        let (key, made) = (try key(cache), LaidOutWeights(nil))
        _ = try Self.bytes(made)
        #expect(try keep(made, key, in: cache))
        let sound = try [UInt8](Data(contentsOf: URL(filePath: path(key))))
        func changed(_ number: UInt64, at place: Int) throws -> WeightEntry? {
            try self.changed(number, at: place, in: sound, key)
        }
        let length = UInt64(sound.count)
        for count in [UInt64(0), 1 << 20, 1 << 58, UInt64.max / 64, .max] {
            let entry = try changed(count, at: 40)
            // None is a number of parts as well; they are all missing then.
            #expect(entry == nil || count == 0, "\(count) parts")
        }
        for start in [UInt64(0), 64, 65, length, length + 64, 1 << 62, .max - 63, .max] {
            let entry = try changed(start, at: 64 + 32)
            #expect(entry == nil || start == length, "begins at \(start)")
        }
        for count in [length, length + 1, 1 << 62, UInt64(Int.max), .max] {
            #expect(try changed(count, at: 64 + 40) == nil, "\(count) bytes")
        }
        // A part that is shorter than what is asked for.
        var bytes = sound
        let start = bytes[96..<104].reversed().reduce(0) { $0 << 8 | Int($1) }
        let checksum = bg_xxh3_64(Array(bytes[start..<(start + 64)]), 64)
        withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(112..<120, with: $0) }
        let stored: WeightEntry = try #require(try self.changed(64, at: 104, in: bytes, key))
        let short = LaidOutWeights(stored)
        #expect(try Self.bytes(short) == plain)
        #expect(short.madeByteCount > 0)
    }

    /// The entry with another number in header or table, whose checksum is made right.
    private func changed(
        _ number: UInt64, at place: Int, in sound: [UInt8], _ key: WeightCache.Key
    ) throws -> WeightEntry? {
        var bytes = sound
        withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(place..<(place + 8), with: $0) }
        let end = 64 * (1 + Int(sound[40]))
        let checksum = bg_xxh3_64(Array(bytes[64..<end]), end - 64)
        withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(56..<64, with: $0) }
        try write(bytes, to: path(key))
        return entry(key)
    }

    @Test func anEntryOfAnotherKeyIsForeign() throws {
        let cache = try cache()
        let (key, other, made) = (try key(cache), try key(cache, precision: "bf16"), LaidOutWeights(nil))
        _ = try Self.bytes(made)
        #expect(try keep(made, key, in: cache))
        try FileManager.default.copyItem(atPath: path(key), toPath: path(other))
        #expect(entry(key) != nil && entry(other) == nil)
        // Nor is one kept under another name than its own.
        let sheet = try #require(cache.sheet(for: other))
        defer { close(sheet) }
        #expect(made.write(to: sheet, key: key.digest, limit: key.limitBytes) != nil)
        #expect(!cache.keep(sheet, as: other))
    }

    @Test func partsOfTheOldEntryStayInTheNewOneWhileThereIsRoom() throws {
        let cache = try cache()
        let (key, first) = (try key(cache), LaidOutWeights(nil))
        _ = try Self.bytes(first)
        #expect(try keep(first, key, in: cache))
        // A process that asks for none of them.
        #expect(try keep(LaidOutWeights(entry(key)), key, in: cache))
        let again = LaidOutWeights(entry(key))
        _ = try Self.bytes(again)
        #expect(again.foundByteCount == first.madeByteCount && again.madeByteCount == 0)
        let sheet = try #require(cache.sheet(for: key))
        defer { close(sheet) }
        #expect(again.write(to: sheet, key: key.digest, limit: 1000) == nil)
    }

    @Test func aSheetHoldsNoMoreThanItsKeyAllows() throws {
        let cache = try cache()
        let key = try key(cache)
        let sheet = try #require(cache.sheet(for: key))
        defer { close(sheet) }
        #expect(pwrite(sheet, "x", 1, off_t(key.limitBytes)) < 0 && errno == EPERM)
        #expect(ftruncate(sheet, off_t(key.limitBytes + 1)) < 0)
        #expect(pwrite(sheet, "x", 1, off_t(key.limitBytes - 1)) == 1)
        // Zeros are no entry, and from then on nothing else either.
        #expect(!cache.keep(sheet, as: key) && cache.open(key) == nil)
        #expect(pwrite(sheet, "x", 1, 0) < 0)
    }

    @Test func aSheetThatSomebodyCanStillWriteToIsNotKept() throws {
        let cache = try cache()
        let (key, made) = (try key(cache), LaidOutWeights(nil))
        _ = try Self.bytes(made)
        let sheet = try #require(cache.sheet(for: key))
        defer { close(sheet) }
        #expect(made.write(to: sheet, key: key.digest, limit: key.limitBytes) != nil)
        let mapping = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, sheet, 0)
        try #require(mapping != MAP_FAILED)
        #expect(!cache.keep(sheet, as: key))
        munmap(mapping, 4096)
        #expect(cache.keep(sheet, as: key))
    }

    @Test func nothingIsKeptWhenTheModelHasChangedMeanwhile() throws {
        let cache = try cache()
        let (key, made) = (try key(cache), LaidOutWeights(nil))
        _ = try Self.bytes(made)
        try Data("b model".utf8).write(to: URL(filePath: model))
        #expect(try !keep(made, key, in: cache))
        #expect(cache.size.entries == 0)
    }

    @Test func thoseThatWereNotUsedForLongestGo() throws {
        let made = LaidOutWeights(nil)
        _ = try Self.bytes(made)
        let large = try cache()
        let keys = try ["1", "2", "3"].map { try key(large, program: $0) }
        for key in keys.prefix(2) { #expect(try keep(made, key, in: large)) }
        let bytes = large.size.bytes / 2
        // The second was made last, and the first was used last.
        for (key, age) in zip(keys, [-100.0, -50]) {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: age)], ofItemAtPath: path(key))
        }
        close(try #require(large.open(keys[0])))
        // What a writer that is gone has left behind.
        try write([1, 2, 3], to: "\(path(keys[1])).\(Int32.max).tmp")
        let small = try cache(capacityBytes: 2 * bytes)
        #expect(try keep(made, keys[2], in: small))
        #expect(small.size.entries == 2 && small.size.bytes <= 2 * bytes)
        #expect(entry(keys[0]) != nil && entry(keys[1]) == nil && entry(keys[2]) != nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("cache/weights"))
        #expect(!names.contains { $0.hasSuffix(".tmp") }, "\(names)")
        let none = try cache(capacityBytes: bytes - 1)
        #expect(try !keep(made, try key(none, program: "4"), in: none))
    }

    @Test func aLargeFileIsReadOnceAndAnewWhenItWasChanged() throws {
        let cache = try cache()
        let file = try #require(FileHandle(forWritingAtPath: model))
        try file.truncate(atOffset: 17 << 20)
        func key(readsAll: Bool) -> Digest? {
            cache.key(files: [model], precision: "fp32", program: "1", readsAll: readsAll)?.digest
        }
        #expect(key(readsAll: false) == nil)
        let first = try #require(key(readsAll: true))
        #expect(key(readsAll: false) == first)
        // Of the same length and time of its content.
        let date = try FileManager.default.attributesOfItem(atPath: model)[.modificationDate]
        try file.seek(toOffset: 1 << 20)
        try file.write(contentsOf: Data([1]))
        try file.close()
        try FileManager.default.setAttributes([.modificationDate: try #require(date)], ofItemAtPath: model)
        #expect(key(readsAll: false) == nil)
        let second = try #require(key(readsAll: true))
        #expect(second != first && key(readsAll: false) == second)
        // One that was changed just now gets no note: the next change could have the same time.
        let careful = try #require(WeightCache(folder: folder.file("other"), quiet: .seconds(3600)))
        #expect(careful.key(files: [model], precision: "fp32", program: "1", readsAll: true)?.digest == second)
        #expect(careful.key(files: [model], precision: "fp32", program: "1", readsAll: false) == nil)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        unlink(path)
        try Data(bytes).write(to: URL(filePath: path))
    }
}
