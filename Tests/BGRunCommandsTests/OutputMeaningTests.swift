import Foundation
import ImageCodecs
import RandomPictures
import Testing

/// What settings mean is part of what tells whether an output is still current: a folder that was exported before a change of that
/// meaning is made anew.
@Suite struct OutputMeaningTests {
    /// Options that between them take every path of pixels through an export, all of 8 bits a channel.
    private static let options = [
        "size=40", "size=40,linear", "size=300,enlarge", "size=fill:31x47", "crop=4:3,size=33",
        "rotate=3,size=50",
        "denoise=0.3,size=45", "local-contrast=1,color=display-p3", "exposure=0.5,saturation=0.3,curve=0:0/0.4:0.6/1:1",
        "deconvolve=0.8,sharpen=0.7", "grain=0.3:1.5:7", "border=3:ff8000,contrast=0.4",
    ]

    /// Sums of the pixels of those, by what the program calls itself. Where this test fails, outputs have other pixels than before:
    /// raise the program's version, and note its sums here.
    private static let known = (version: "0.2.0", sum: "1e4a60b471a84e5798d3221d02c3268b")

    @Test func otherPixelsNeedAnotherVersion() throws {
        let place = try TestPlace()
        try FileManager.default.createDirectory(atPath: place.path + "/in", withIntermediateDirectories: true)
        // Opaque and cut out, of 8 bits and of 16, upright and turned.
        for seed in [3, 8] as [UInt64] {
            for (orientation, alpha) in [(1, RandomPicture.Alpha.none), (6, .cutOut)] {
                let picture = RandomPicture(seed: seed).with {
                    ($0.format, $0.orientation, $0.alpha, $0.isGray) = (.tiff, orientation, alpha, false)
                    if alpha == .none {
                        for i in stride(from: 3, to: $0.pixels.count, by: 4) { $0.pixels[i] = 65535 }
                    }
                }
                try Data(picture.file()).write(to: URL(filePath: place.path + "/in/\(seed)-\(orientation).tif"))
            }
        }
        let outputs = Self.options.enumerated().flatMap { index, option in
            ["--output", "name={stem}-\(index).{ext},format=png,bits=8,\(option)"]
        }
        let ended = try CommandRun(["export", "in", "--out", "out"] + outputs, in: place).end()
        #expect(ended.status == 0, "\(ended.errors)")
        var pixels: [UInt8] = []
        for name in try place.contents("out").keys.sorted() where !name.hasPrefix(".") {
            pixels += try PictureFile(place.path + "/out/" + name).pixels
        }
        let sum = pixels.withUnsafeBytes { Checksum.xxh3($0) }
        let version = try place.bgrun("--version").output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(version == Self.known.version)
        #expect(sum == Self.known.sum, "of \(pixels.count) bytes")
    }
}
