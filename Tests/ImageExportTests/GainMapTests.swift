import ChunkedCompute
import Foundation
import ImageCodecs
import ImageExport

import TemporaryFolders
import Testing

/// What becomes of the gain map of an Ultra HDR photograph.
@Suite struct GainMapTests {
    private static let size = (width: 240, height: 160)
    private static let mapSize = (width: 120, height: 80)
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Brighter to the right and below, with a bright mark in one corner, so that every turn and mirror shows.
    private static func brightness(_ x: Double, _ y: Double) -> Double {
        let mark = x > 0.12 && x < 0.3 && y > 0.1 && y < 0.35 ? 0.5 : 0
        return 0.1 + 0.35 * x + 0.2 * y * y + mark
    }

    /// The picture, or a map that follows it pixel by pixel; with `tint` a channel apart from the others.
    private func jpeg(_ name: String, width: Int, height: Int, isGray: Bool = true) throws -> [UInt8] {
        let pixels = (0..<width * height).flatMap { place -> [UInt8] in
            let value = Self.brightness(
                (Double(place % width) + 0.5) / Double(width), (Double(place / width) + 0.5) / Double(height))
            let code = UInt8(min(value * 255, 255))
            return [code, code, isGray ? code : 255 - code, 255]
        }
        let path = try folder.write(
            name, pixels,
            EncodeRequest(
                format: .jpeg, width: width, height: height, layout: .rgbx8, isGray: isGray, quality: 95,
                fullChroma: true))
        return Array(try Data(contentsOf: URL(filePath: path)))
    }

    private func photo(
        _ name: String = "in.jpg", orientation: Int = 1, isGrayMap: Bool = true, mapSize: (Int, Int) = mapSize,
        change: (inout UltraHDRWriter) -> Void = { _ in }
    ) throws -> String {
        var writer = UltraHDRWriter(
            picture: try jpeg("plain.jpg", width: Self.size.width, height: Self.size.height),
            map: try jpeg("map.jpg", width: mapSize.0, height: mapSize.1, isGray: isGrayMap))
        writer.exif = exif(orientation: orientation)
        change(&writer)
        let path = folder.file(name)
        try Data(writer.file).write(to: URL(filePath: path))
        return path
    }

    private func exported(
        _ input: String, notes: [String] = [], _ change: (inout OutputSettings) -> Void = { _ in }
    ) throws -> [UInt8] {
        var wanted = settings { $0.format = .jpeg }
        change(&wanted)
        let out = folder.file("out-\(UUID().uuidString).jpg")
        let result = export(input, to: [(out, wanted)])
        #expect(result.status == .good, "\(result.failure?.reason ?? "")")
        #expect(result.notes == notes)
        let file = Array(try Data(contentsOf: URL(filePath: out)))
        #expect(result.outputs.first?.bytes == file.count)
        return file
    }

    private func header(_ file: [UInt8]) throws -> ImageHeader {
        try file.withUnsafeBytes { try CodecRegistry.decoder(for: $0, limits: DecodeLimits()).header }
    }

    private func map(_ file: [UInt8]) throws -> GainMap { try #require(try header(file).gainMap).get() }

    /// The red channel of a file's picture, at another size.
    private func values(_ file: [UInt8], width: Int, height: Int) throws -> [Double] {
        let path = folder.file("look-\(UUID().uuidString)")
        try Data(file).write(to: URL(filePath: path + ".jpg"))
        let result = export(
            path + ".jpg",
            to: [
                (
                    path,
                    settings {
                        $0.format = .png
                        $0.size = .fill(width: width, height: height)
                        $0.enlarge = true
                    }
                )
            ])
        #expect(result.status == .good)
        let samples = try Decoded(path).samples
        return stride(from: 0, to: samples.count, by: 4).map { samples[$0] }
    }

    /// The map's codes against the picture's, which they follow: the mean difference.
    private func difference(_ file: [UInt8], mirrored: Bool = false) throws -> Double {
        let map = try map(file)
        let codes = try values(Array(file[map.range]), width: map.width, height: map.height)
        let picture = try values(file, width: map.width, height: map.height)
        let expected =
            mirrored
            ? picture.indices.map { picture[$0 / map.width * map.width + map.width - 1 - $0 % map.width] } : picture
        return zip(codes, expected).reduce(0) { $0 + abs($1.0 - $1.1) } / Double(codes.count)
    }

    static let framings: [(String, @Sendable (inout OutputSettings) -> Void)] = [
        ("as it is", { _ in }),
        ("smaller", { $0.size = .longEdge(100) }),
        (
            "larger",
            {
                $0.size = .longEdge(400)
                $0.enlarge = true
            }
        ),
        ("cut to a box", { $0.crop = .box(width: 101, height: 77, x: 3, y: 9) }),
        ("cut to a size", { $0.size = .fill(width: 90, height: 90) }),
        ("turned", { $0.turns = 1 }),
        ("straightened", { $0.straighten = 12 }),
        (
            "all of it",
            {
                $0.turns = 3
                $0.straighten = -7
                $0.crop = .aspect(width: 1, height: 1)
                $0.size = .longEdge(70)
            }
        ),
    ]

    @Test(arguments: framings.indices, [1, 2, 3, 4, 5, 6, 7, 8])
    func theMapIsFramedAsThePictureIs(framing: Int, orientation: Int) throws {
        let (name, change) = Self.framings[framing]
        let file = try exported(try photo(orientation: orientation), change)
        let (header, map) = (try header(file), try map(file))
        #expect(abs(map.width * 2 - header.width) <= 1 && abs(map.height * 2 - header.height) <= 1, "\(name)")
        let (right, wrong) = (try difference(file), try difference(file, mirrored: true))
        #expect(right < 3, "\(name): \(right)")
        #expect(wrong > 3 * right && wrong > 10, "\(name): the comparison sees nothing: \(wrong)")
    }

    @Test(arguments: [(true, false), (false, true), (true, true)])
    func whatTheCodesMeanStays(hasXMP: Bool, hasISO: Bool) throws {
        let input = try photo {
            ($0.hasXMP, $0.hasISO) = (hasXMP, hasISO)
            $0.remark = "somebody"
        }
        let file = try exported(input) { $0.size = .longEdge(120) }
        let (header, map) = (try header(file), try map(file))
        #expect(map.metadata.gainMapISO == (hasISO ? UltraHDRWriter.meaning : nil))
        #expect(header.metadata.gainMapISO == (hasISO ? [0, 0, 0, 0] : nil))
        let words = String(decoding: map.metadata.xmp ?? [], as: UTF8.self)
        #expect(words.contains("hdrgm:GainMapMax=\"3\"") == hasXMP)
        #expect(words.contains("hdrgm:HDRCapacityMax=\"3.25\"") == hasXMP)
        let whole = String(decoding: file[map.range], as: UTF8.self)
        #expect(!whole.contains("somebody"), "what the map says of anything else stays behind")
        #expect(String(decoding: header.metadata.xmp ?? [], as: UTF8.self).contains("somebody") == hasXMP)
    }

    /// Read here again from the bytes, apart from the reader of the exporter.
    @Test func placesAndLengthsAreThoseOfTheFile() throws {
        let file = try exported(try photo(orientation: 6) { $0.hasISO = true }) { $0.size = .longEdge(90) }
        let text = String(decoding: file, as: UTF8.self)
        let length = try #require(text.firstMatch(of: /Item:Semantic="GainMap"[^>]*Item:Length="(\d+)"/)?.1)
        let start = file.count - (try #require(Int(length)))
        #expect(file[start...].starts(with: [0xFF, 0xD8, 0xFF]))
        #expect(file[..<start].suffix(2) == [0xFF, 0xD9] && file.suffix(2) == [0xFF, 0xD9])
        let index = try #require(file.firstRange(of: "MPF\0MM\0*".utf8)).lowerBound + 4
        func number(_ place: Int) -> Int { file[index + place..<index + place + 4].reduce(0) { $0 << 8 | Int($1) } }
        // Directory at 8: three entries of 12 bytes, and the place of the two entries of 16 in the last value.
        #expect(number(4) == 8 && file[index + 8..<index + 10].elementsEqual([0, 3]))
        let entries = number(8 + 2 + 24 + 8)
        #expect(number(entries) == 0x03_0000 && number(entries + 4) == start && number(entries + 8) == 0)
        #expect(number(entries + 16 + 4) == file.count - start)
        #expect(index + number(entries + 16 + 8) == start)
    }

    @Test func aMapIsFoundByItsLengthAlone() throws {
        let file = try exported(try photo { $0.hasIndex = false }) { $0.size = .longEdge(120) }
        #expect(try map(file).width == 60)
        #expect(try difference(file) < 2)
    }

    @Test func theMapIsPartOfThePictureAndNoneOfItsMetadata() throws {
        let file = try exported(try photo { $0.remark = "somebody" }) { $0.metadata = .strip }
        #expect(try map(file).width == Self.mapSize.width)
        #expect(!String(decoding: file, as: UTF8.self).contains("somebody"))
    }

    @Test func aMapOfThreeChannelsKeepsThem() throws {
        let file = try exported(try photo(isGrayMap: false)) { $0.size = .longEdge(120) }
        let map = try map(file)
        #expect(!map.isGray && map.width == 60)
        let path = folder.file("map-out.jpg")
        try Data(file[map.range]).write(to: URL(filePath: path))
        let pixels = try Decoded(path).bytes
        let differences = stride(from: 0, to: pixels.count, by: 4).map {
            abs(255 - Int(pixels[$0]) - Int(pixels[$0 + 2]))
        }
        #expect(differences.reduce(0, +) < 3 * differences.count)
    }

    @Test func looksThatChangeNothingKeepTheMap() throws {
        let straight = try #require(ToneCurve([.init(0, 0), .init(0.5, 0.5), .init(1, 1)]))
        let neutral: [ImageOperation] = [
            .contrast(0), .saturation(0), .curve(straight), .localContrast(LocalContrast(amount: 0, reach: 1)),
        ]
        for operations in neutral.map({ [$0] }) + [neutral] {
            let file = try exported(try photo { $0.hasISO = true }) {
                $0.operations = operations
                $0.size = .longEdge(100)
            }
            #expect(try header(file).gainMap != nil, "\(operations)")
        }
    }

    @Test func whoeverConvertsColoursIsToldOfThreeChannels() throws {
        let wide = try photo(isGrayMap: false)
        let note = "the gain map's three channels are for the input's colours, which were converted"
        let file = try exported(wide, notes: [note]) { $0.colorSpace = .displayP3 }
        #expect(try map(file).width == Self.mapSize.width)
        _ = try exported(try photo("gray.jpg")) { $0.colorSpace = .displayP3 }
    }

    static let withoutMap: [(String?, @Sendable (inout OutputSettings) -> Void)] = [
        (nil, { $0.leavesOutGainMap = true }),
        ("only a JPEG keeps it", { $0.format = .png }),
        ("only a JPEG keeps it", { $0.format = .webp }),
        ("it has nothing for a border", { $0.border = Border(pixels: 3, color: [0, 0, 0]) }),
        ("contrast changes the tones that it was made for", { $0.operations = [.exposure(0.1), .contrast(0.2)] }),
        ("saturation changes the tones that it was made for", { $0.operations = [.saturation(0.2)] }),
        (
            "local contrast changes the tones that it was made for",
            { $0.operations = [.localContrast(LocalContrast(amount: 0.2, reach: 1))] }
        ),
    ]

    @Test(arguments: withoutMap.indices) func whyAnOutputHasNoneIsSaid(index: Int) throws {
        let (reason, change) = Self.withoutMap[index]
        let file = try exported(
            try photo { $0.hasISO = true }, notes: reason.map { ["the gain map was left out: \($0)"] } ?? [], change)
        let header = try header(file)
        #expect(header.gainMap == nil && header.metadata.gainMapISO == nil)
        for word in ["hdrgm:Version", "Container:Item", "MPF\0"] {
            let isThere = file.contains(word.utf8)
            #expect(!isThere, "\(word) speaks of a map that is not there")
        }
    }

    @Test func whatLeavesTheRatioOfLightKeepsTheMap() throws {
        let file = try exported(try photo()) {
            $0.operations = [
                .exposure(0.3), .whiteBalance(WhiteBalance(temperature: 0.1, tint: 0)),
                .denoise(Denoising(luma: 0.1, chroma: 0.1)), .grain(Grain(amount: 0.1, size: 2, seed: 1)),
            ]
            $0.sharpening = Sharpening(amount: 0.5, sigma: 1)
        }
        #expect(try map(file).width == Self.mapSize.width)
    }

    @Test func outputsOfOneInputHaveMapsOfTheirOwn() throws {
        let input = try photo()
        let outs = [100, 60].map { (folder.file("out-\($0).jpg"), $0) }
        let result = export(
            input,
            to: outs.map { path, edge in
                (
                    path,
                    settings {
                        $0.format = .jpeg
                        $0.size = .longEdge(edge)
                    }
                )
            })
        #expect(result.status == .good && result.notes.isEmpty)
        for (path, edge) in outs {
            let file = Array(try Data(contentsOf: URL(filePath: path)))
            #expect(try map(file).width == edge / 2)
            // The same as alone.
            let alone = try exported(input) { $0.size = .longEdge(edge) }
            let isSame = try alone[map(alone).range] == file[map(file).range]
            #expect(isSame)
        }
    }

    @Test func aBoundedFileHasRoomForTheMapOrHasNone() throws {
        let input = try photo()
        let free = try exported(input)
        let out = folder.file("bounded.jpg")
        let most = free.count * 4 / 5
        let mapBytes = try map(free).range.count
        let keeps = mapBytes <= most / 4
        let result = export(
            input,
            to: [
                (
                    out,
                    settings {
                        $0.format = .jpeg
                        $0.maxBytes = most
                    }
                )
            ])
        #expect(result.status == .good)
        let file = Array(try Data(contentsOf: URL(filePath: out)))
        #expect(file.count <= most)
        #expect((try header(file).gainMap != nil) == keeps)
        #expect(result.notes.contains("the gain map was left out: it takes \(mapBytes) of \(most) bytes") != keeps)
    }

    // MARK: Hostile and damaged files

    private func leavesOut(_ input: String, _ reason: String) throws {
        let file = try exported(input, notes: ["the gain map was left out: \(reason)"]) { $0.size = .longEdge(100) }
        #expect(try header(file).gainMap == nil)
        #expect(try Decoded(input).width == Self.size.width)
    }

    @Test func aPlaceOutsideOfTheFileIsNone() throws {
        // Without containers nothing else tells the place.
        for error in [1 << 30, -(1 << 12), 7] {
            let input = try photo("far.jpg") {
                ($0.hasXMP, $0.hasISO) = (false, true)
                $0.placeError = error
            }
            try leavesOut(input, "it is not in the file")
        }
        let long = try photo("long.jpg") {
            ($0.hasXMP, $0.hasISO) = (false, true)
            $0.lengthError = 1
        }
        try leavesOut(long, "it is not in the file")
    }

    @Test func aMapThatIsCutOffIsLeftOut() throws {
        let whole = Array(try Data(contentsOf: URL(filePath: try photo())))
        let map = try map(whole)
        let cut = folder.file("cut.jpg")
        try Data(whole.prefix(map.range.lowerBound + map.range.count / 2)).write(to: URL(filePath: cut))
        try leavesOut(cut, "it is not in the file")
        // The file is as long as it says, and the map ends early.
        let short = folder.file("short.jpg")
        let half = map.range.lowerBound + map.range.count * 3 / 4
        try Data(whole.prefix(half) + Array(repeating: 0, count: whole.count - half)).write(to: URL(filePath: short))
        try leavesOut(short, "it is damaged")
    }

    @Test func aMapLargerThanItsPictureIsLeftOut() throws {
        try leavesOut(
            try photo(mapSize: (260, 100)), "with 260 × 100 pixels it is larger than its picture")
    }

    @Test func aBombBehindAPictureIsLeftOut() throws {
        let input = try photo()
        var limits = DecodeLimits()
        limits.maxPixels = Self.size.width * Self.size.height
        let file = Array(try Data(contentsOf: URL(filePath: input)))
        let start = try map(file).range.lowerBound
        // Width and height in the map's frame header become those of 60000 × 60000.
        var bomb = file
        let frame = try #require(bomb[start...].firstRange(of: [0xFF, 0xC0])).lowerBound
        bomb.replaceSubrange(frame + 5..<frame + 9, with: [0xEA, 0x60, 0xEA, 0x60])
        try Data(bomb).write(to: URL(filePath: input))
        let out = folder.file("out.jpg")
        let result = export(input, to: [(out, settings { $0.format = .jpeg })], limits: limits)
        #expect(result.status == .good)
        let note = try #require(result.notes.first)
        #expect(note.hasPrefix("the gain map was left out: 60000 × 60000 pixels are more than the limit"))
        #expect(result.workingBytes < 8 << 20)
    }

    @Test func aPreviewBehindAPictureIsNoMap() throws {
        // An index as cameras write it, to a picture that says nothing of gain.
        let input = try photo { $0.hasXMP = false }
        #expect(try header(Array(Data(contentsOf: URL(filePath: input)))).gainMap == nil)
        let file = try exported(input, notes: ["a picture behind the first one was left out"])
        let hasIndex = file.contains("MPF\0".utf8)
        #expect(!hasIndex)
    }

    @Test func aMapWithoutMeaningIsLeftOut() throws {
        let file = Array(try Data(contentsOf: URL(filePath: try photo())))
        var mute = file
        while let word = mute.firstRange(of: "hdrgm:GainMapMax".utf8) {
            mute.replaceSubrange(word, with: "hdrgm:GainMapXXX".utf8)
        }
        let input = folder.file("mute.jpg")
        try Data(mute).write(to: URL(filePath: input))
        try leavesOut(input, "it does not say what it means")
    }

    @Test func theClaimIncludesTheMap() throws {
        let input = try photo()
        func claim(_ change: (inout OutputSettings) -> Void, most: Int = .max) -> ItemResult {
            var limits = DecodeLimits()
            limits.maxWorkingBytes = most
            var wanted = settings { $0.format = .jpeg }
            change(&wanted)
            return export(input, to: [(folder.file("out.jpg"), wanted)], limits: limits, mayReplace: true)
        }
        let with = claim { _ in }.workingBytes
        let without = claim { $0.leavesOutGainMap = true }.workingBytes
        #expect(with > without + Self.mapSize.width * Self.mapSize.height)
        let refused = claim({ _ in }, most: without + 1)
        #expect(refused.status == .failed && refused.failure?.code == "memoryShare")
        #expect(claim({ _ in }, most: with).status == .good)
    }
}
