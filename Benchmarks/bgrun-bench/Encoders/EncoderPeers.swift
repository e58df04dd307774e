import Foundation

/// The programs that write a format, at their defaults and at the setting of the same library that bgrun uses.
struct EncoderPeers {
    let bgrun: String
    /// Interpreter with pyvips.
    let python: String
    let tools: Tools
    let scratch: String

    /// bgrun first.
    func programs(for format: EncodedFormat) -> [EncoderProgram] {
        [own(format)] + vips(format) + imageMagick(format) + single(format)
    }

    private func own(_ format: EncodedFormat) -> EncoderProgram {
        let (bgrun, state) = (bgrun, scratch + "/state")
        return EncoderProgram(
            key: "bgrun",
            invocations: { files, out, one, quality in
                let fixed = ["--out", out, "--existing", "overwrite", "--progress", "none", "--cpu"]
                let size = ["--size", one == .kept ? "original" : "2048"]
                let coded = ["--format", format.rawValue, "--quality", "\(quality)"]
                return [
                    Invocation(
                        program: bgrun, arguments: ["export"] + files + fixed + size + coded,
                        environment: ["XDG_STATE_HOME": state, "BGRUN_IN_PROCESS": "1"])
                ]
            }, splitsItself: { ["--workers", "\($0)"] })
    }

    /// Effort 1 is AVIF's speed 8; the efforts of WebP and JPEG XL are those of their libraries.
    private func sameEffort(_ format: EncodedFormat) -> Int {
        switch format {
        case .avif: 1
        case .jxl: 3
        case .webp: 2
        }
    }

    private func vips(_ format: EncodedFormat) -> [EncoderProgram] {
        guard let program = Tools.locate("vipsthumbnail") else { return [] }
        let efforts = [("vipsthumbnail", ""), ("vipsthumbnail-same", ",effort=\(sameEffort(format))")]
        return efforts.map { key, effort in
            EncoderProgram(key: key) { files, out, one, quality in
                // It never enlarges.
                let edge = one == .kept ? "10000x10000>" : "2048x2048"
                let target = "\(out)/%s.\(format.rawValue)[Q=\(quality)\(effort)]"
                return [
                    // With "-e srgb", 8.14 changes the codes of pictures without a profile.
                    Invocation(
                        program: program, arguments: ["-s", edge, "-o", target] + files,
                        environment: ["VIPS_CONCURRENCY": "1"])
                ]
            }
        } + pyvips(format)
    }

    private func pyvips(_ format: EncodedFormat) -> [EncoderProgram] {
        // Its JPEG XL is not in the package.
        guard format != .jxl, tools.moduleVersion(python, "pyvips") != nil else { return [] }
        let (python, effort) = (python, sameEffort(format))
        let save = format == .webp ? "webpsave(name" : "heifsave(name, compression='av1'"
        let script = """
            import os, sys, pyvips
            for path in sys.argv[4:]:
                name = os.path.join(sys.argv[1], os.path.splitext(os.path.basename(path))[0] + '.\(format.rawValue)')
                edge = int(sys.argv[2])
                image = pyvips.Image.thumbnail(path, edge, height=edge, size='down')
                image.\(save), Q=int(sys.argv[3]), effort=\(effort))
            """
        return [
            EncoderProgram(key: "pyvips-same") { files, out, one, quality in
                let edge = one == .kept ? "10000" : "2048"
                return [
                    Invocation(
                        program: python, arguments: ["-c", script, out, edge, "\(quality)"] + files,
                        environment: ["VIPS_CONCURRENCY": "1"])
                ]
            }
        ]
    }

    private func imageMagick(_ format: EncodedFormat) -> [EncoderProgram] {
        guard format != .jxl, let program = Tools.locate("mogrify-im6.q16") ?? Tools.locate("mogrify") else {
            return []
        }
        return [
            EncoderProgram(key: "ImageMagick") { files, out, one, quality in
                let size = one == .kept ? [] : ["-define", "jpeg:size=1365x1365", "-resize", "2048x2048>"]
                let fixed = ["-format", format.rawValue, "-path", out, "-quality", "\(quality)", "-auto-orient"]
                return [
                    Invocation(
                        program: program, arguments: fixed + size + files,
                        environment: ["MAGICK_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"])
                ]
            }
        ]
    }

    /// The encoders' own programs: a process for each picture.
    private func single(_ format: EncodedFormat) -> [EncoderProgram] {
        func programs(
            _ name: String, cases: Set<EncoderCase> = [.kept], _ settings: [String: [String]],
            _ arguments: @escaping @Sendable (_ file: String, _ target: String, EncoderCase, Int) -> [String]
        ) -> [EncoderProgram] {
            guard let program = Tools.locate(name) else { return [] }
            return settings.sorted { $0.key < $1.key }.map { suffix, setting in
                EncoderProgram(key: name + suffix, cases: cases) { files, out, one, quality in
                    files.map { file in
                        let stem = ((file as NSString).lastPathComponent as NSString).deletingPathExtension
                        let target = "\(out)/\(stem).\(format.rawValue)"
                        return Invocation(program: program, arguments: setting + arguments(file, target, one, quality))
                    }
                }
            }
        }
        switch format {
        case .webp:
            return programs("cwebp", cases: [.kept, .resized], ["": [], "-same": ["-m", "2"]]) { file, target, one, q in
                let size = one == .kept ? [] : ["-resize", "2048", "0"]
                return ["-quiet", "-q", "\(q)"] + size + [file, "-o", target]
            }
        case .avif:
            return programs("avifenc", ["": [], "-same": ["-s", "8"]]) { file, target, _, q in
                let level = ["-a", "end-usage=q", "-a", "cq-level=\((100 - q) * 63 / 100)"]
                return ["-j", "1", "-y", "420", "--min", "0", "--max", "63"] + level + [file, target]
            }
        case .jxl:
            let fixed = ["--num_threads=0", "--lossless_jpeg=0", "--quiet"]
            return programs("cjxl", ["": fixed, "-same": fixed + ["-e", "3"]]) { file, target, _, q in
                ["-q", "\(q)", file, target]
            }
        }
    }
}
