import Foundation

extension Contestants {
    private static let oneMagickThread = ["MAGICK_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"]

    func imageMagick(_ work: BenchmarkCase) -> Contestant? {
        guard let program = locate("mogrify-im6.q16") ?? locate("mogrify"), let edge = work.longEdges[0] else {
            return nil
        }
        let locations = locations
        return Contestant(key: "ImageMagick", title: "ImageMagick mogrify") { files, out in
            Contestant.split(files) { half in
                let hint = Self.decodeHint(edge)
                let arguments =
                    Self.magickFormat(work) + [
                        "-define", "jpeg:size=\(hint)", "-path", out, "-auto-orient", "-resize",
                        "\(edge)x\(edge)>", "-profile", locations.profile,
                    ]
                return [Invocation(program: program, arguments: arguments + half, environment: Self.oneMagickThread)]
            }
        }
    }

    func graphicsMagick(_ work: BenchmarkCase) -> Contestant? {
        guard let program = locate("gm"), let edge = work.longEdges[0] else { return nil }
        let locations = locations
        return Contestant(key: "GraphicsMagick", title: "GraphicsMagick mogrify") { files, out in
            Contestant.split(files) { half in
                let arguments =
                    ["mogrify"] + Self.magickFormat(work) + [
                        "-size", Self.decodeHint(edge), "-output-directory", out, "-auto-orient", "-resize",
                        "\(edge)x\(edge)>", "-profile", locations.profile,
                    ]
                // It appends the whole path of the input to the output folder.
                let names = half.map { ($0 as NSString).lastPathComponent }
                let folder = half.first.map { ($0 as NSString).deletingLastPathComponent }
                return [
                    Invocation(
                        program: program, arguments: arguments + names, environment: Self.oneMagickThread,
                        folder: folder)
                ]
            }
        }
    }

    /// The size that lets the decoder shrink by a power of two, not below what is asked for: the short edge of a
    /// 3:2 picture, because the program compares it with both edges.
    private static func decodeHint(_ edge: Int) -> String { "\(edge * 2 / 3)x\(edge * 2 / 3)" }

    private static func magickFormat(_ work: BenchmarkCase) -> [String] {
        work.name == "webp"
            ? ["-format", "webp", "-quality", "80"]
            : ["-format", "jpg", "-quality", "85", "-sampling-factor", "2x2,1x1,1x1"]
    }

    func pillow(_ work: BenchmarkCase) -> Contestant? {
        let locations = locations
        func contestant(_ python: String, _ title: String) -> Contestant {
            Contestant(key: "Pillow", title: title) { files, out in
                Contestant.split(files) { half in
                    [
                        Invocation(
                            program: python,
                            arguments: [locations.scripts + "/pillow_export.py", work.name, out, locations.profile]
                                + half)
                    ]
                }
            }
        }
        if let version = moduleVersion(locations.pythonSIMD, "PIL"), version.contains("post") {
            return contestant(locations.pythonSIMD, "Pillow-SIMD \(version)")
        }
        return moduleVersion(locations.python, "PIL").map {
            contestant(locations.python, "Pillow \($0) (Pillow-SIMD is not installed)")
        }
    }

    func openCV(_ work: BenchmarkCase) -> Contestant? {
        guard let version = moduleVersion(locations.python, "cv2") else { return nil }
        let locations = locations
        return Contestant(
            key: "OpenCV", title: "OpenCV \(version)", remark: "drops metadata, ignores profiles"
        ) { files, out in
            Contestant.split(files) { half in
                [
                    Invocation(
                        program: locations.python,
                        arguments: [locations.scripts + "/opencv_export.py", work.name, out] + half,
                        environment: ["OMP_NUM_THREADS": "1"])
                ]
            }
        }
    }

    func darktable() -> Contestant? {
        guard let program = locate("darktable-cli") else { return nil }
        let locations = locations
        return Contestant(key: "darktable-cli", title: "darktable-cli, all threads") { files, out in
            // It locks its database, so a second process at once would need a second configuration.
            let inputs = files.map { file in
                let name = (file as NSString).lastPathComponent
                return Invocation(
                    program: program,
                    arguments: [
                        file, "\(out)/\(name)", "--width", "2048", "--height", "2048", "--icc-type", "SRGB", "--core",
                        "--configdir", locations.scratch + "/darktable", "--library", ":memory:", "--conf",
                        "plugins/imageio/format/jpeg/quality=85",
                    ])
            }
            return [inputs]
        }
    }
}
