import Foundation

/// Every program that can do a case, in its best form: two processes with one thread each, the pictures split between
/// them.
struct Contestants {
    let locations: ContestantLocations
    /// Keys of programs to leave out.
    let excluded: Set<String>
    /// Finds a program by name; nil when it is not installed.
    let locate: (String) -> String?
    /// Version of a Python module as that interpreter imports it; nil when it does not.
    let moduleVersion: (_ python: String, _ module: String) -> String?

    private static let oneVipsThread = ["VIPS_CONCURRENCY": "1"]

    func find(for work: BenchmarkCase) -> (present: [Contestant], absent: [AbsentContestant]) {
        let (found, absent) = all(for: work)
        return (
            found.filter { !excluded.contains($0.key) },
            absent
                + found.filter { excluded.contains($0.key) }.map { AbsentContestant(key: $0.key, reason: "left out") }
        )
    }

    private func all(for work: BenchmarkCase) -> (present: [Contestant], absent: [AbsentContestant]) {
        var present: [Contestant] = []
        var absent: [AbsentContestant] = []
        func add(_ key: String, _ contestant: Contestant?, reason: String) {
            if let contestant {
                present.append(contestant)
            } else {
                absent.append(AbsentContestant(key: key, reason: reason))
            }
        }
        add("bgrun", bgrun(work), reason: "no program at \(locations.bgrun)")
        if work.name == "overhead" {
            present.append(pipeline())
            return (present, absent)
        }
        if work.isSmall { return (present, absent) }
        if work.name == "darktable" {
            add("darktable-cli", darktable(), reason: "not installed")
            return (present, absent)
        }
        let vips = locate(work.name == "sharpen" ? "vips" : "vipsthumbnail")
        if let vips {
            present += work.name == "sharpen" ? [vipsSharpen(vips)] : vipsThumbnail(vips, work)
        } else {
            absent.append(AbsentContestant(key: "vipsthumbnail", reason: "libvips-tools is not installed"))
        }
        if work.output != nil { return (present, absent) }
        if let version = moduleVersion(locations.python, "pyvips") {
            present += pyvips(version, work)
        } else {
            absent.append(AbsentContestant(key: "pyvips", reason: "\(locations.python) has no pyvips"))
        }
        guard ["web", "thumbnails", "webp", "three"].contains(work.name) else { return (present, absent) }
        if work.name != "three" {
            add("ImageMagick", imageMagick(work), reason: "not installed")
            add("GraphicsMagick", graphicsMagick(work), reason: "not installed")
            add("OpenCV", openCV(work), reason: "\(locations.python) has no cv2")
        }
        add("Pillow", pillow(work), reason: "neither Pillow-SIMD nor Pillow is installed")
        return (present, absent)
    }

    private func bgrun(_ work: BenchmarkCase) -> Contestant? {
        let locations = locations
        guard FileManager.default.isExecutableFile(atPath: locations.bgrun) else { return nil }
        return Contestant(key: "bgrun", title: "bgrun export, 2 workers") { files, out in
            let fixed = [
                "--out", out, "--existing", "overwrite", "--workers", "2", "--progress", "none", "--cpu",
                "--in-process",
            ]
            return [
                [
                    Invocation(
                        program: locations.bgrun, arguments: ["export"] + files + fixed + work.exportOptions,
                        environment: ["XDG_STATE_HOME": locations.scratch + "/state"])
                ]
            ]
        }
    }

    private func pipeline() -> Contestant {
        let locations = locations
        return Contestant(key: "pipeline", title: "the pipeline alone, 2 processes") { files, out in
            [
                [
                    Invocation(
                        program: locations.bench, arguments: ["pipeline", "--processes", "2", "--out", out] + files)
                ]
            ]
        }
    }

    private func vipsThumbnail(_ program: String, _ work: BenchmarkCase) -> [Contestant] {
        func contestant(_ key: String, _ title: String, remark: String = "", suffix: String, _ options: [String])
            -> Contestant
        {
            let edges = work.longEdges.compactMap { $0 }
            return Contestant(key: key, title: title, remark: remark) { files, out in
                Contestant.split(files) { half in
                    edges.map { edge in
                        let name = edges.count > 1 ? "%s-\(edge)" : "%s"
                        return Invocation(
                            program: program,
                            arguments: ["-s", "\(edge)x\(edge)", "-o", "\(out)/\(name)\(suffix)"] + options + half,
                            environment: Self.oneVipsThread)
                    }
                }
            }
        }
        let jpeg = ".jpg[Q=85]"
        if let output = work.output {
            // It cannot convert gray to colours, and leaves what is not tagged alone.
            return [
                contestant(
                    "vipsthumbnail", "vipsthumbnail", remark: output.remark,
                    suffix: ".\(output.suffix)\(output.saving)", [])
            ]
        }
        switch work.name {
        case "linear":
            return [contestant("vipsthumbnail", "vipsthumbnail --linear", suffix: jpeg, ["--linear", "-e", "srgb"])]
        case "webp":
            return [
                contestant("vipsthumbnail", "vipsthumbnail", suffix: ".webp[Q=80]", ["-e", "srgb"]),
                contestant(
                    "vipsthumbnail-effort-2", "vipsthumbnail, effort 2", suffix: ".webp[Q=80,effort=2]",
                    ["-e", "srgb"]),
            ]
        case "avif", "jxl":
            // Its effort 1 is AVIF's speed 8.
            let (options, effort) = work.name == "avif" ? ("Q=60", 1) : ("Q=85", 3)
            return [
                contestant("vipsthumbnail", "vipsthumbnail", suffix: ".\(work.name)[\(options)]", ["-e", "srgb"]),
                contestant(
                    "vipsthumbnail-same-speed", "vipsthumbnail, effort \(effort)",
                    suffix: ".\(work.name)[\(options),effort=\(effort)]", ["-e", "srgb"]),
            ]
        case "web":
            return [
                contestant("vipsthumbnail", "vipsthumbnail", suffix: jpeg, ["-e", "srgb"]),
                contestant(
                    "vipsthumbnail-unconverted", "vipsthumbnail without -e srgb",
                    remark: "keeps wide-gamut profiles", suffix: jpeg, []),
            ]
        case "three":
            return [contestant("vipsthumbnail", "vipsthumbnail, three runs", suffix: jpeg, ["-e", "srgb"])]
        default:
            return [contestant("vipsthumbnail", "vipsthumbnail", suffix: jpeg, ["-e", "srgb"])]
        }
    }

    private func vipsSharpen(_ program: String) -> Contestant {
        Contestant(key: "vips-sharpen", title: "vips sharpen", remark: "keeps the orientation tag") { files, out in
            Contestant.split(files) { half in
                half.map { file in
                    let name = (file as NSString).lastPathComponent
                    return Invocation(
                        program: program,
                        arguments: [
                            "sharpen", file, "\(out)/\(name)[Q=90,subsample_mode=on]", "--sigma", "1", "--m1", "0.8",
                            "--m2", "0.8",
                        ],
                        environment: Self.oneVipsThread)
                }
            }
        }
    }

    private func pyvips(_ version: String, _ work: BenchmarkCase) -> [Contestant] {
        func contestant(_ key: String, _ script: String, _ title: String, remark: String = "") -> Contestant {
            let locations = locations
            return Contestant(key: key, title: "\(title) (libvips \(version))", remark: remark) { files, out in
                Contestant.split(files) { half in
                    [
                        Invocation(
                            program: locations.python,
                            arguments: [locations.scripts + "/pyvips_export.py", script, out] + half,
                            environment: Self.oneVipsThread)
                    ]
                }
            }
        }
        switch work.name {
        case "sharpen":
            return [
                contestant(
                    "pyvips-separable", "sharpen-separable", "pyvips, gaussblur on RGB",
                    remark: "sharpens colour noise too, keeps the orientation tag"),
                contestant(
                    "pyvips-luma", "sharpen-luma", "pyvips, gaussblur on luma", remark: "keeps the orientation tag"),
            ]
        case "three":
            return [
                contestant("pyvips", "three", "pyvips, three thumbnails"),
                contestant("pyvips-cascade", "three-cascade", "pyvips, small ones from the large one"),
            ]
        default:
            return [contestant("pyvips", work.name, "pyvips")]
        }
    }
}
