import Foundation
import ImageCodecs
import Testing

/// What another program reads of files of many makers, before and after.
@Suite(.enabled(if: ToolFolder.has("exiftool"), "exiftool is not installed"))
struct MakerNoteTests {
    private static let size = (width: 16, height: 12)
    /// Of the file, of what is calculated, and of thumbnails.
    private static let others: Set<String> = ["SourceFile", "System", "File", "Composite", "IFD1", "ExifTool"]

    private func encodedPicture(_ format: ImageFormat, _ metadata: ImageMetadata) throws -> [UInt8] {
        try encoded(Picture.sample(width: Self.size.width, height: Self.size.height), as: format) {
            $0.metadata = metadata
        }
    }

    private func edited(_ file: [UInt8], as format: ImageFormat) throws -> (file: [UInt8], notes: [String]) {
        let (metadata, notes) = try decode(file).header.metadata.edited(
            forWidth: Self.size.width, height: Self.size.height, icc: nil, format: format)
        return (try encodedPicture(format, metadata), notes)
    }

    /// Every tag by its group and name for each file of a folder.
    private func tags(of folder: ToolFolder) throws -> [String: [String: String]] {
        let report = try folder.run("exiftool", ["-j", "-a", "-G1", "-s", "-n", folder.path("").path])
        let files = try #require(try JSONSerialization.jsonObject(with: Data(report.utf8)) as? [[String: Any]])
        return files.reduce(into: [:]) { all, file in
            let path = file["SourceFile"] as? String ?? ""
            all[String(path.split(separator: "/").last ?? "")] = file.mapValues { "\($0)" }
        }
    }

    private func isTold(_ tag: String) -> Bool {
        !Self.others.contains(String(tag.split(separator: ":").first ?? ""))
    }

    @Test
    func `every tag of every maker is the same after as before, in every format and out of a TIFF again`() throws {
        let folder = try ToolFolder()
        let thumbnail = try encodedPicture(.jpeg, ImageMetadata())
        let formats = ImageFormat.allCases.filter(\.isWritten)
        for maker in MakerNote.allCases {
            let exif = maker.block(width: Self.size.width, height: Self.size.height, thumbnail: thumbnail)
            let input = try encodedPicture(.jpeg, ImageMetadata(exif: exif))
            try Data(input).write(to: folder.path("\(maker)-input.jpg"))
            for format in formats {
                let output = try edited(input, as: format)
                #expect(output.notes == ["the EXIF thumbnail was left out"], "\(maker) \(format)")
                try Data(output.file).write(to: folder.path("\(maker)-\(format).\(format.rawValue)"))
                guard format == .tiff else { continue }
                let again = try edited(output.file, as: .jpeg)
                #expect(again.notes.isEmpty, "\(maker)")
                try Data(again.file).write(to: folder.path("\(maker)-again.jpg"))
            }
        }
        let tags = try tags(of: folder)
        for maker in MakerNote.allCases {
            let before = try #require(tags["\(maker)-input.jpg"]).filter { isTold($0.key) }
            #expect(!before.keys.contains { $0.hasSuffix("Warning") }, "\(maker)")
            let own = before.keys.filter { tag in
                !["IFD0:", "ExifIFD:", "GPS:", "InteropIFD:"].contains(where: tag.hasPrefix)
            }
            #expect(own.count >= 3, "\(maker): \(before)")
            for name in formats.map({ "\(maker)-\($0).\($0.rawValue)" }) + ["\(maker)-again.jpg"] {
                let after = try #require(tags[name])
                for (tag, value) in before { #expect(after[tag] == value, "\(name) \(tag)") }
                #expect(!after.keys.contains { $0.hasSuffix("Warning") }, "\(name)")
                #expect(!after.keys.contains { $0.hasPrefix("IFD1:") }, "\(name)")
            }
        }
    }

    @Test(arguments: MakerNote.allCases)
    func `no byte of a block is moved, and only its picture's size and its thumbnail change`(maker: MakerNote) throws {
        let whole = maker.block(width: 16, height: 12)
        let block = maker.block(width: 16, height: 12, thumbnail: Array("a small picture".utf8))
        let edited = try #require(
            ImageMetadata(exif: block).edited(forWidth: 8, height: 6, icc: nil, format: .jpeg).metadata.exif)
        let changed = zip(whole, edited).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
        #expect(edited.count == whole.count)
        // Width and height, each in a byte of its entry.
        #expect(changed.count == 2, "\(maker)")
    }

    @Test
    func `what was cut out of a block's middle leaves zeros and true offsets`() throws {
        let block = MakerNote.canon.block(width: 16, height: 12)
        let credited = ImageMetadata(exif: block).selected(
            .keep, MetadataCredits(artist: "Somebody else", copyright: "A notice"), format: .jpeg
        ).metadata
        let exif = try #require(credited.exif)
        let note = try #require(block.firstRange(of: Array("IMG:EOS".utf8)))
        #expect(exif[note].elementsEqual("IMG:EOS".utf8))
        let folder = try ToolFolder()
        try Data(try encodedPicture(.jpeg, credited)).write(to: folder.path("a.jpg"))
        let tags = try #require(try tags(of: folder)["a.jpg"])
        #expect(tags["Canon:LensModel"] == "EF24-105mm f/4L IS USM")
        #expect(tags["IFD0:Artist"] == "Somebody else")
        #expect(tags["IFD0:Copyright"] == "A notice")
        #expect(tags["IFD0:Make"] == "Canon")
        #expect(!tags.keys.contains { $0.hasSuffix("Warning") })
    }
}
