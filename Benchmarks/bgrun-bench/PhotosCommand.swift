import ArgumentParser
import Foundation
import SamplePhotos

/// `bgrun-bench photos`: writes a set of camera-like pictures.
struct PhotosCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photos", abstract: "Write camera-like JPEGs; the same seed gives the same files.")

    @Argument(help: "Folder to write to; made when missing.")
    var folder: String

    @Option(help: "Number of pictures.")
    var count = 12

    @Option(help: "Stored size of landscape pictures.")
    var size = PixelSize(width: 6000, height: 4000)

    @Option(help: "Seed.")
    var seed: UInt64 = 1

    func validate() throws {
        guard count > 0 else { throw ValidationError("--count takes a positive number") }
    }

    func run() throws {
        var total = 0.0
        try SamplePhotos.write(
            count: count, width: size.width, height: size.height, seed: seed, to: folder
        ) { photo in
            total += photo.bitsPerPixel
            print(
                "\(photo.path)  \(photo.width)x\(photo.height)  \(decimal(photo.bitsPerPixel)) bits per pixel  "
                    + "quality \(photo.quality)  orientation \(photo.orientation)  "
                    + (photo.profile?.rawValue ?? "no profile"))
        }
        print("\(count) pictures, \(decimal(total / Double(count))) bits per pixel on average")
    }
}

/// A size such as `6000x4000`.
struct PixelSize: ExpressibleByArgument, CustomStringConvertible {
    let width: Int
    let height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    init?(argument: String) {
        let parts = argument.split(separator: "x").map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1],
            (8...65_500).contains(width), (8...65_500).contains(height)
        else { return nil }
        self.init(width: width, height: height)
    }

    var description: String { "\(width)x\(height)" }
}

/// A decimal number for people.
func decimal(_ value: Double, digits: Int = 2) -> String {
    value.isFinite ? String(format: "%.*f", digits, value) : "-"
}
