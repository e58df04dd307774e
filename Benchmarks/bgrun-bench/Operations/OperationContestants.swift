import Foundation

extension OperationCase {
    /// Every program that has the operation, as one process with one thread.
    func contestants(_ tools: OperationTools) throws -> (present: [Contestant], absent: [AbsentContestant]) {
        var present: [Contestant] = [bgrun(tools)]
        var absent: [AbsentContestant] = []
        if tools.hasOpenCV {
            present += openCV.map { method, amount in
                Contestant(key: "OpenCV \(method)", title: "OpenCV \(method)") { files, out in
                    let script = [tools.scripts + "/opencv_operations.py", method, amount, out]
                    return [[Invocation(program: tools.python, arguments: script + files)]]
                }
            }
        } else {
            absent.append(AbsentContestant(key: "OpenCV", reason: "\(tools.python) has no cv2"))
        }
        let magick = [
            ("ImageMagick", tools.imageMagick, imageMagick, []),
            ("GraphicsMagick", tools.graphicsMagick, graphicsMagick, ["mogrify"]),
        ]
        for (name, program, variants, command) in magick {
            guard let program else {
                absent.append(AbsentContestant(key: name, reason: "not installed"))
                continue
            }
            present += variants.map { options in
                Contestant(key: "\(name) \(options[0].dropFirst())", title: name) { files, out in
                    let jpeg = ["-quality", "100", "-sampling-factor", "1x1"]
                    // GraphicsMagick has no -path for mogrify: copies are changed in their place.
                    let targets = files.map { out + "/" + ($0 as NSString).lastPathComponent }
                    let copies = Invocation(program: "/bin/cp", arguments: files + [out])
                    let change = Invocation(
                        program: program, arguments: command + jpeg + options + targets,
                        environment: ["MAGICK_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"])
                    return [[copies, change]]
                }
            }
        }
        if let program = tools.darktable {
            present.append(try darktable(program, tools))
        } else {
            absent.append(AbsentContestant(key: "darktable", reason: "not installed"))
        }
        return (present, absent)
    }

    /// One start for each picture: that is what darktable-cli takes a sidecar file for.
    private func darktable(_ program: String, _ tools: OperationTools) throws -> Contestant {
        let sidecar = tools.scratch + "/\(darktable.operation).xmp"
        try Data(darktable.sidecar.utf8).write(to: URL(fileURLWithPath: sidecar))
        return Contestant(key: "darktable \(darktable.operation)", title: "darktable-cli") { files, out in
            let quality = ["--conf", "plugins/imageio/format/jpeg/quality=100"]
            let core = ["--core", "--configdir", tools.scratch + "/darktable", "--disable-opencl", "-t", "1"] + quality
            return [
                files.map { file in
                    let target = out + "/" + (file as NSString).lastPathComponent
                    return Invocation(program: program, arguments: [file, sidecar, target] + core)
                }
            ]
        }
    }

    private func bgrun(_ tools: OperationTools) -> Contestant {
        Contestant(key: "bgrun", title: "bgrun export, 1 worker") { files, out in
            let fixed = [
                "--out", out, "--existing", "overwrite", "--workers", "1", "--progress", "none", "--cpu",
                "--in-process", "--quality", "100", "--444",
            ]
            return [
                [
                    Invocation(
                        program: tools.bgrun, arguments: ["export"] + files + fixed + options,
                        environment: ["XDG_STATE_HOME": tools.scratch + "/state"])
                ]
            ]
        }
    }
}

/// Where the programs of these comparisons are.
struct OperationTools: Sendable {
    var bgrun: String
    var scripts: String
    var python: String
    var hasOpenCV: Bool
    var imageMagick: String?
    var graphicsMagick: String?
    var darktable: String?
    var scratch: String
}
