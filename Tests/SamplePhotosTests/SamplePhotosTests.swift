import Foundation
import ImageCodecs
import SamplePhotos
import TemporaryFolders
import Testing

@Suite struct SamplePhotosTests {
    @Test func theSameSeedGivesTheSamePixels() {
        let one = SamplePhotos.pixels(seed: 7, width: 331, height: 257)
        #expect(one == SamplePhotos.pixels(seed: 7, width: 331, height: 257))
        #expect(one != SamplePhotos.pixels(seed: 8, width: 331, height: 257))
        #expect(one.count == 331 * 257 * 4)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func bandsOfOnePictureMeetWithoutASeam(seed: UInt64) {
        // Bands are 128 rows high, and row 128 lies in the textured foreground: the step from the row above may not
        // stand out from the steps around it.
        let (width, height) = (1024, 192)
        let pixels = SamplePhotos.pixels(seed: seed, width: width, height: height)
        func step(_ y: Int) -> Double {
            let sum = (0..<width).reduce(0) { sum, x in
                sum + abs(Int(pixels[(y * width + x) * 4 + 1]) - Int(pixels[((y - 1) * width + x) * 4 + 1]))
            }
            return Double(sum) / Double(width)
        }
        let usual = ((120..<128).map(step) + (129..<137).map(step)).max() ?? 0
        #expect(step(128) <= usual * 1.1, "\(step(128)) against \(usual)")
    }

    @Test func aSetVariesOrientationAndProfile() throws {
        let folder = try TemporaryFolder()
        let photos = try SamplePhotos.write(count: 12, width: 240, height: 160, seed: 1, to: folder.path)

        #expect(photos.map(\.orientation) == [1, 1, 1, 6, 1, 1, 8, 1, 1, 3, 1, 1])
        #expect(photos.filter { $0.profile == .displayP3 || $0.profile == .adobeRGB }.count == 2)
        #expect(photos.contains { $0.profile == nil })
        for photo in photos {
            let data = try #require(FileManager.default.contents(atPath: photo.path))
            try data.withUnsafeBytes { bytes in
                let header = try CodecRegistry.decoder(for: bytes, limits: DecodeLimits()).header
                #expect(header.width == photo.width && header.height == photo.height)
                #expect(header.orientation == photo.orientation)
                #expect((header.metadata.icc != nil) == (photo.profile != nil))
            }
        }
    }

    @Test func cameraSizesComeToTwoToThreeBitsPerPixel() throws {
        let folder = try TemporaryFolder()
        for photo in try SamplePhotos.write(count: 3, width: 3000, height: 2000, seed: 1, to: folder.path) {
            #expect((1.9...3.1).contains(photo.bitsPerPixel), "\(photo.path)")
        }
    }
}
