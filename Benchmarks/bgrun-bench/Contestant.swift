/// A program that takes part in a case.
struct Contestant: Sendable {
    /// Short name, the same in every case.
    let key: String
    /// What is run, for the reader of the table.
    let title: String
    /// What it leaves out or does differently; empty when it does the same job.
    var remark = ""
    /// The programs to start for these pictures, as lanes that run side by side.
    let lanes: @Sendable (_ files: [String], _ out: String) -> [[Invocation]]

    /// So many lanes with a share of the pictures each, each running what `invocations` says one after the other.
    static func split(
        _ files: [String], lanes: Int = 2, _ invocations: ([String]) -> [Invocation]
    ) -> [[Invocation]] {
        let shares = (0..<lanes).map { lane in
            files.enumerated().filter { $0.offset % lanes == lane }.map(\.element)
        }
        return shares.filter { !$0.isEmpty }.map(invocations)
    }
}

/// A program that cannot take part, and why.
struct AbsentContestant: Codable, Sendable {
    let key: String
    let reason: String
}

/// Where the programs are.
struct ContestantLocations: Sendable {
    var bgrun: String
    /// This program, which also runs the bare pipeline.
    var bench: String
    /// Folder with the Python scripts.
    var scripts: String
    /// Interpreter with pyvips, OpenCV and Pillow.
    var python: String
    /// Interpreter with Pillow-SIMD.
    var pythonSIMD: String
    /// A file with the sRGB profile.
    var profile: String
    /// Folder for what the programs leave behind.
    var scratch: String
}
