import Foundation
import ImageCodecs

/// Finds out whether a run made what it was asked for, so that no time is credited to work not done.
enum OutputCheck {
    /// The first thing that is wrong with the files below `folder`; nil when nothing is.
    static func problem(in folder: String, pictures: Int, longEdges: [Int?]) -> String? {
        let names = (FileManager.default.enumerator(atPath: folder)?.allObjects ?? []).compactMap { $0 as? String }
        let files = names.map { folder + "/" + $0 }.filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
        }
        guard files.count == pictures * longEdges.count else {
            return "made \(files.count) files instead of \(pictures * longEdges.count)"
        }
        let asked = Set(longEdges.compactMap { $0 })
        for file in files {
            guard let bytes = FileManager.default.contents(atPath: file), !bytes.isEmpty else {
                return "\(file) is empty"
            }
            do {
                let (width, height) = try size(of: bytes)
                guard asked.isEmpty || asked.contains(max(width, height)) else {
                    return "\(file) is \(width)x\(height)"
                }
            } catch {
                return "\(file): \(error)"
            }
        }
        return nil
    }

    private static func size(of file: Data) throws -> (Int, Int) {
        try file.withUnsafeBytes { bytes in
            let header = try CodecRegistry.decoder(for: bytes, limits: DecodeLimits()).header
            return (header.width, header.height)
        }
    }
}
