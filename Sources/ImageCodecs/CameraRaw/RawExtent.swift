/// Holds what a camera's raw file promises of its sensor's values against what is in the file. LibRaw reads on where they are
/// missing, leaves them as they come, and says nothing.
struct RawExtent {
    /// What is wrong with the file, as one sentence.
    private(set) var damage: String?
    /// Why the library would make another picture of a sound file.
    private(set) var obstacle: String?

    init(_ file: UnsafeRawBufferPointer) {
        if file.starts(with: "FUJIFILMCCD-RAW".utf8) {
            damage = Self.isCutOff(fujifilm: file) ? Self.endsEarly : nil
        } else if file.starts(with: "FOVb".utf8) {
            damage = Self.isCutOff(sigma: file) ? Self.endsEarly : nil
        } else if file.count >= 14, file[6..<14].elementsEqual("HEAPCCDR".utf8) {
            damage = Self.isCutOff(canon: file) ? Self.endsEarly : nil
        } else if file.count >= 12, file[4..<8].elementsEqual("ftyp".utf8) {
            damage = BoxChain.isCutOff(file) || BoxChain.samplesAreCutOff(file) ? Self.endsEarly : nil
        } else if let structure = TIFFStructure(file) {
            read(structure)
        }
    }

    private static let endsEarly = "The raw file ends before its sensor's values do"
    private static let isShort = "The raw file has fewer of its sensor's values than its size promises"
    private static let hasDamagedPart = "A part of the raw file's values is damaged"

    /// A number of four bytes, in the order of Fujifilm's header or of the others'.
    private static func number(_ file: UnsafeRawBufferPointer, at place: Int, isBig: Bool = false) -> Int? {
        guard place >= 0, place <= file.count - 4 else { return nil }
        let value = file.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        return Int(isBig ? UInt32(bigEndian: value) : UInt32(littleEndian: value))
    }

    /// The header names where preview, colours of the filter and values begin, and how long they are.
    private static func isCutOff(fujifilm file: UnsafeRawBufferPointer) -> Bool {
        guard let start = number(file, at: 0x64, isBig: true), let length = number(file, at: 0x68, isBig: true) else {
            return true
        }
        return start + length > file.count
    }

    /// The last four bytes name where the directory of the file is.
    private static func isCutOff(sigma file: UnsafeRawBufferPointer) -> Bool {
        guard let place = number(file, at: file.count - 4), place <= file.count - 4 else { return true }
        return !file[place..<place + 4].elementsEqual("SECd".utf8)
    }

    /// The last four bytes name where the directory of the file is, behind its header.
    private static func isCutOff(canon file: UnsafeRawBufferPointer) -> Bool {
        let isBig = file[0] == 0x4D
        guard let header = number(file, at: 2, isBig: isBig), let place = number(file, at: file.count - 4, isBig: isBig)
        else { return true }
        let start = header + place
        guard start <= file.count - 6 else { return true }
        let bytes = (Int(file[start]), Int(file[start + 1]))
        let entries = isBig ? bytes.0 << 8 | bytes.1 : bytes.1 << 8 | bytes.0
        return entries == 0 || start + 2 + entries * 10 > file.count
    }
}

extension RawExtent {
    /// Tags of TIFF 6.0, TIFF/EP and DNG.
    private enum Tag {
        static let width = 256, height = 257, bits = 258, compression = 259, photometric = 262
        static let stripPlaces = 273, samples = 277, rowsPerStrip = 278, stripBytes = 279
        static let tileWidth = 322, tileHeight = 323, tilePlaces = 324, tileBytes = 325
        static let subdirectories = 0x14A, dngVersion = 0xC612
    }

    private static let mostDirectories = 64
    /// Strips or tiles of a directory.
    private static let mostParts = 1 << 20
    /// Colour filter array, and linear raw (DNG 1.4).
    private static let sensorValues = [32_803, 34_892]
    /// Compressions with a code of at least one bit for each value: lossless JPEG, Sony's, two kinds without gaps, Nikon's and
    /// Pentax's.
    private static let bitwise = [7, 32_767, 32_769, 32_770, 34_713, 65_535]

    private struct Directory {
        let structure: TIFFStructure
        let entries: [TIFFStructure.Entry]

        func entry(_ tag: Int) -> TIFFStructure.Entry? { entries.first { $0.tag == tag } }

        func number(_ tag: Int) -> Int? { entry(tag).flatMap { structure.numbers(of: $0, atMost: 1).first } }

        var hasSensorValues: Bool { number(Tag.photometric).map(sensorValues.contains) ?? false }

        var isTiled: Bool { entry(Tag.tilePlaces) != nil }
        var places: TIFFStructure.Entry? { entry(Tag.tilePlaces) ?? entry(Tag.stripPlaces) }
        var counts: TIFFStructure.Entry? { entry(Tag.tileBytes) ?? entry(Tag.stripBytes) }

        /// The lists of its parts lie within the file.
        var listsAreWhole: Bool {
            [places, counts].allSatisfy { $0.map { $0.value.upperBound <= structure.bytes.count } ?? true }
        }

        var parts: [(place: Int, count: Int)] {
            guard let places, let counts, listsAreWhole else { return [] }
            return Array(
                zip(
                    structure.numbers(of: places, atMost: mostParts), structure.numbers(of: counts, atMost: mostParts)))
        }

        /// Values of the picture; nil where the directory does not say how many.
        var values: Int? {
            guard let width = number(Tag.width), let height = number(Tag.height) else { return nil }
            let samples = number(Tag.samples) ?? 1
            guard [width, height].allSatisfy((1...0xFFFF_FFFF).contains), (1...0xFF).contains(samples) else {
                return nil
            }
            let (values, isBeyond) = width.multipliedReportingOverflow(by: height * samples)
            return isBeyond ? nil : values
        }
    }

    private static func directories(_ structure: TIFFStructure) -> [Directory] {
        var found: [Directory] = []
        var waiting = [structure.firstPlace]
        var seen: Set<Int> = [0]
        while let place = waiting.popLast(), found.count < mostDirectories {
            guard seen.insert(place).inserted else { continue }
            let directory = Directory(structure: structure, entries: structure.claims(at: place))
            found.append(directory)
            waiting.append(structure.place(behind: place))
            if let list = directory.entry(Tag.subdirectories) {
                waiting += structure.numbers(of: list, atMost: mostDirectories)
            }
        }
        return found
    }

    private mutating func read(_ structure: TIFFStructure) {
        let all = Self.directories(structure)
        if structure.bytes.starts(with: "IIU\0".utf8) {
            let isCutOff = all.first.flatMap { Panasonic.isCutOff($0.number, structure.bytes.count) } ?? false
            damage = isCutOff ? Self.endsEarly : nil
            return
        }
        // Others are previews. Where none says that it has them, those that take most of the file do.
        var sensor = all.filter(\.hasSensorValues)
        if sensor.isEmpty {
            let sizes = all.map { $0.parts.reduce(0) { $0 &+ $1.count } }
            sensor = zip(all, sizes).max { $0.1 < $1.1 }.map { [$0.0] } ?? []
        }
        let isDNG = all.contains { $0.entry(Tag.dngVersion) != nil }
        for directory in sensor {
            damage = damage ?? Self.damage(of: directory, isDNG: isDNG)
            obstacle = obstacle ?? (isDNG ? Self.obstacle(of: directory) : nil)
        }
    }

    private static func damage(of directory: Directory, isDNG: Bool) -> String? {
        let file = directory.structure.bytes
        guard directory.listsAreWhole else { return endsEarly }
        let parts = directory.parts
        let areInside = parts.allSatisfy {
            (0...file.count).contains($0.place) && (0...file.count - $0.place).contains($0.count)
        }
        guard areInside else { return endsEarly }
        let compression = directory.number(Tag.compression) ?? 1
        if let needed = neededBytes(directory, compression, isDNG: isDNG), !parts.isEmpty,
            parts.reduce(0, { $0 + $1.count }) < needed
        {
            return isShort
        }
        // Canon's first kind, and lossless JPEG in a DNG, whose library stops at a part that it cannot read.
        let isCanon = file.count >= 10 && file[8..<10].elementsEqual("CR".utf8)
        guard compression == 7 && isDNG || compression == 6 && isCanon else { return nil }
        return parts.allSatisfy { LosslessJPEG.begins(file[$0.place..<$0.place + $0.count]) } ? nil : hasDamagedPart
    }

    /// The least that the values take; nil where that is not known. Cameras call values uncompressed which they packed.
    private static func neededBytes(_ directory: Directory, _ compression: Int, isDNG: Bool) -> Int? {
        guard directory.hasSensorValues, let values = directory.values else { return nil }
        if compression == 1, isDNG {
            let (bits, isBeyond) = values.multipliedReportingOverflow(by: directory.number(Tag.bits) ?? 1)
            return isBeyond ? nil : bits / 8
        }
        return bitwise.contains(compression) ? values / 8 : nil
    }

    /// The library reads values that are not packed as one run of rows.
    private static func obstacle(of directory: Directory) -> String? {
        guard directory.number(Tag.compression) ?? 1 == 1 else { return nil }
        if directory.isTiled {
            let isOne = directory.places?.count == 1 && directory.number(Tag.tileWidth) == directory.number(Tag.width)
            return isOne ? nil : "A DNG of tiles that are not compressed is not supported"
        }
        let parts = directory.parts
        let areInOrder = zip(parts, parts.dropFirst()).allSatisfy { $0.place &+ $0.count == $1.place }
        return areInOrder ? nil : "A DNG whose strips do not follow each other is not supported"
    }
}

/// Panasonic's files say how long their values would be unpacked.
private enum Panasonic {
    private static let width = 2, height = 3, bits = 10, format = 0x2D, place = 0x118

    /// nil for kinds of which it is not known how many values 16 bytes have.
    static func isCutOff(_ number: (Int) -> Int?, _ fileBytes: Int) -> Bool? {
        guard let start = number(place), let width = number(width), let height = number(height) else { return nil }
        let perBlock: [Int: Int] = [4: 14, 5: number(bits) == 14 ? 9 : 10, 6: 11]
        guard (0...0xFFFF).contains(width), (0...0xFFFF).contains(height), let format = number(format),
            let values = perBlock[format]
        else { return nil }
        return start + width / values * 16 * height > fileBytes
    }
}
