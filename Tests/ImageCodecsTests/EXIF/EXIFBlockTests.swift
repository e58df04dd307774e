import Foundation
import ImageCodecs
import SeededNumbers
import Testing

/// What becomes of a camera's block when something of it has to change.
struct EXIFBlockTests {
    private static func block(thumbnail: [UInt8] = []) -> [UInt8] {
        let writer = EXIFWriter(isBigEndian: false)
        return writer.block(
            make: "Canon", model: "A camera of theirs", width: 400, height: 300,
            more: [
                writer.ratios(0xA20E, 4_000, 1), writer.ratios(0xA20F, 3_000, 1), writer.shorts(0xA210, 2),
                writer.shorts(0x9214, 100, 50, 20, 10), writer.text(0xA430, "Camera Owner"),
            ], thumbnail: thumbnail, makerNote: MakerNote.canon.bytes)
    }

    private static func turned(left: Double = 0, top: Double = 0, orientation: Int = 6) -> PixelPlacement {
        PixelPlacement(
            left: left, top: top, scaleX: 0.5, scaleY: 0.5, width: (400 - left) / 2, height: (300 - top) / 2,
            orientation: orientation, isCut: left + top > 0)
    }

    private func tags(_ metadata: ImageMetadata, _ names: String...) throws -> [String] {
        let folder = try ToolFolder()
        let file = try encoded(Picture.sample(width: 16, height: 12), as: .jpeg) { $0.metadata = metadata }
        let path = try folder.write(file, as: "a.jpg")
        let report = try folder.run("exiftool", ["-n", "-S", "-Warning"] + names.map { "-\($0)" } + [path])
        return report.split(separator: "\n").map(String.init)
    }

    @Test(.enabled(if: ToolFolder.has("exiftool"), "exiftool is not installed"))
    func `what counts in pixels follows them through a resize and a turn`() throws {
        let edited = ImageMetadata(exif: Self.block()).edited(
            forWidth: 150, height: 200, icc: nil, isTransposed: true, placement: Self.turned(), format: .jpeg)
        #expect(edited.notes.isEmpty)
        #expect(
            try tags(edited.metadata, "SubjectArea", "FocalPlaneXResolution", "FocalPlaneYResolution") == [
                "SubjectArea: 125 50 5 10", "FocalPlaneXResolution: 1500", "FocalPlaneYResolution: 2000",
            ])
        let cut = ImageMetadata(exif: Self.block()).edited(
            forWidth: 75, height: 100, icc: nil, isTransposed: true, placement: Self.turned(left: 200, top: 150),
            format: .jpeg)
        #expect(cut.notes == ["the subject's place was left out, as it is not in the output"])
        #expect(try tags(cut.metadata, "SubjectArea", "LensModel") == ["LensModel: EF24-105mm f/4L IS USM"])
    }

    @Test
    func `XMP says the same of its pixels, and no place that is not true any more`() throws {
        func packet(_ text: String) -> [UInt8] {
            Array("<x:xmpmeta><rdf:RDF><rdf:Description\(text)</rdf:Description></rdf:RDF></x:xmpmeta>".utf8)
        }
        let faces = "<mwg-rs:Regions rdf:parseType='Resource'><mwg-rs:RegionList/></mwg-rs:Regions>"
        let area = "<exif:SubjectArea><rdf:Seq><rdf:li>9</rdf:li></rdf:Seq></exif:SubjectArea>"
        let y = "<exif:FocalPlaneYResolution>3000/1</exif:FocalPlaneYResolution>"
        let input = ImageMetadata(xmp: packet(" exif:FocalPlaneXResolution='4000/1'>" + faces + area + y))
        func edited(_ placement: PixelPlacement) -> (xmp: [UInt8]?, notes: [String]) {
            let edited = input.edited(forWidth: 9, height: 9, icc: nil, placement: placement, format: .png)
            return (edited.metadata.xmp, edited.notes)
        }
        let note = "places in the picture that XMP tells were left out, as they are not true of the output"
        let turned = edited(Self.turned())
        let turnedY = "<exif:FocalPlaneYResolution>2000/1</exif:FocalPlaneYResolution>"
        #expect(turned.xmp == packet(" exif:FocalPlaneXResolution='1500/1'>" + turnedY))
        #expect(turned.notes == [note])
        let smaller = edited(Self.turned(orientation: 1))
        let smallerY = "<exif:FocalPlaneYResolution>1500/1</exif:FocalPlaneYResolution>"
        #expect(smaller.xmp == packet(" exif:FocalPlaneXResolution='2000/1'>" + faces + smallerY))
        let same = PixelPlacement(left: 0, top: 0, scaleX: 1, scaleY: 1, width: 9, height: 9, orientation: 1)
        #expect(edited(same).xmp == input.xmp && edited(same).notes.isEmpty)
    }

    @Test(
        .enabled(if: ToolFolder.has("exiftool"), "exiftool is not installed"),
        arguments: ["-gps", "-dates", "-artist", "-description"])
    func `a maker note, which may tell what is taken out, goes with it and is named`(selection: String) throws {
        let selection = try #require(MetadataSelection(rawValue: selection))
        let left = ImageMetadata(exif: Self.block(thumbnail: Array("a small picture".utf8))).selected(
            selection, MetadataCredits(), format: .jpeg)
        let exif = try #require(left.metadata.exif)
        #expect(left.notes == ["the maker note was left out, as it may tell what was taken out"])
        for gone in ["EF24-105", "a small picture"] { #expect(!exif.contains(gone.utf8)) }
        #expect(exif.contains("2019:05:04".utf8) == selection.keeps(.dates))
        #expect(exif.contains("Camera Owner".utf8) == selection.keeps(.artist))
        #expect(exif.contains("A camera of theirs".utf8))
        let read = try tags(left.metadata, "GPSLatitude", "Make", "InteropIndex")
        #expect(read == (selection.keeps(.gps) ? ["GPSLatitude: 12.5"] : []) + ["Make: Canon", "InteropIndex: R98"])
    }

    @Test(.enabled(if: ToolFolder.has("exiftool"), "exiftool is not installed"))
    func `with the camera's part a maker note goes without a word, and with the notice alone it stays`() throws {
        func selected(_ selection: String) throws -> (metadata: ImageMetadata, notes: [String]) {
            let selection = try #require(MetadataSelection(rawValue: selection))
            let credited = ImageMetadata(exif: Self.block()).selected(
                .keep, MetadataCredits(copyright: "A notice"), format: .jpeg
            ).metadata
            return credited.selected(selection, MetadataCredits(), format: .jpeg)
        }
        let camera = try selected("-camera")
        #expect(camera.notes.isEmpty)
        #expect(try #require(camera.metadata.exif).contains("EF24-105".utf8) == false)
        let notice = try selected("-copyright")
        #expect(notice.notes.isEmpty)
        #expect(try #require(notice.metadata.exif).contains("A notice".utf8) == false)
        #expect(
            try tags(notice.metadata, "LensModel", "Copyright", "GPSLatitude") == [
                "LensModel: EF24-105mm f/4L IS USM", "GPSLatitude: 12.5",
            ])
    }

    @Test
    func `mutated blocks of all makers are edited, selected and put into TIFFs, or left out`() throws {
        var random = SeededGenerator(seed: 51)
        let picture = Picture.sample(width: 4, height: 3)
        let selections = try ["-gps", "-copyright", "+camera", "-other", "keep"].map {
            try #require(MetadataSelection(rawValue: $0))
        }
        for round in 0..<3_000 {
            let maker = MakerNote.allCases[round % MakerNote.allCases.count]
            var block = maker.block(width: 4, height: 3, thumbnail: Array("a small picture".utf8))
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<(Bool.random(using: &random) ? 200 : block.count), using: &random)
                block[place] = UInt8.random(in: 0...255, using: &random)
            }
            block.removeLast(Int.random(in: 0...40, using: &random))
            let selected = ImageMetadata(exif: block).selected(
                selections[round % selections.count], MetadataCredits(artist: round % 3 == 0 ? "Zoë" : nil),
                format: .tiff)
            let edited = selected.metadata.edited(
                forWidth: 4, height: 3, icc: nil, isTransposed: true, color: .other, placement: Self.turned(),
                format: .tiff)
            #expect((edited.metadata.exif?.count ?? 0) < 2 * block.count + 1_000)
            guard round % 10 == 0 else { continue }
            let file = try encoded(picture, as: .tiff) { $0.metadata = edited.metadata }
            #expect(try decode(file).picture.bytes == picture.bytes)
        }
    }

    /// The entries of a file whose camera's directory begins behind so many bytes of picture.
    private func tiff(_ maker: MakerNote, side: Int) -> [UInt8] {
        var file = TIFFWriter(width: side, height: side, isBigEndian: maker.isBigEndian) { _, _, _ in 7 }
        file.rowsPerStrip = side
        let writer = EXIFWriter(isBigEndian: maker.isBigEndian)
        let start = 8 + (side * side * 3 + 1) / 2 * 2
        file.exifDirectory = writer.directory(
            [
                writer.text(0x9003, "2019:05:04 10:00:00"),
                .init(tag: 0x927C, type: 7, count: maker.bytes(at: 0).count, value: maker.bytes),
            ], at: start)
        file.more = [(0x010F, 2, (maker.make + "\0").utf8.map(Int.init))]
        return file.file()
    }

    @Test(arguments: MakerNote.allCases)
    func `a TIFF's maker note is carried to where its offsets are true, or named`(maker: MakerNote) throws {
        for side in [20, 200] {
            let metadata = try decode(tiff(maker, side: side)).header.metadata
            let edited = metadata.edited(forWidth: side, height: side, icc: nil, format: .jpeg)
            let start = 8 + side * side * 3
            let isCarried = side == 20 || maker.isMovable
            #expect(edited.notes.count == (isCarried ? 0 : 1), "\(edited.notes)")
            let exif = try #require(edited.metadata.exif)
            // Behind a directory of two entries and the date.
            let note = maker.bytes(at: start + 2 + 2 * 12 + 4 + 20)
            #expect(exif.contains(note) == isCarried)
            if isCarried, !maker.isMovable {
                #expect(exif.firstRange(of: note)?.lowerBound == start + 2 + 2 * 12 + 4 + 20)
            }
        }
    }
}
