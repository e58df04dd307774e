import ChunkedCompute
import TaskStore

/// What the paths of all outputs say before any of them is looked at, in one pass that keeps none of them.
struct OutputSurvey {
    /// One path that an output may go to.
    struct Candidate {
        var input: Int
        var spec: Int
        var file: InputFile
        var path: String
    }

    /// Names that are no paths below the output folder, and such as promise another format.
    private(set) var refusals: [PlanRefusal] = []
    /// By input, why some of its outputs cannot be made, whatever is in the pictures.
    private(set) var unfit: [Int: [ItemResult.Failure]] = [:]
    /// Numbers of outputs that are not made: of those, and of such as have no path.
    private(set) var left: Set<Int> = []
    /// Folders of outputs, each once, with the number of an output in it, in the order in which they are met.
    private(set) var folders: [(path: String, output: Int)] = []
    /// Numbers of outputs that have the path of an earlier one, by that one's.
    private(set) var alike: [Int: [Int]] = [:]

    let files: InputFiles
    let naming: OutputNaming
    private var table = PlaceTable()

    /// - Parameters:
    ///   - files: The inputs.
    ///   - naming: What their outputs are called.
    ///   - obstacle: Why an output cannot be made; nil where it may be.
    ///   - promise: What is wrong with the name of an output that is made; nil where nothing is.
    init(
        _ files: InputFiles, _ naming: OutputNaming, obstacle: (Candidate) -> ItemResult.Failure?,
        promise: (Candidate) -> PlanRefusal?
    ) {
        self.files = files
        self.naming = naming
        var misnamed: [PlanRefusal] = []
        var seen: Set<PathKey> = [PathKey(naming.folder)]
        var lastFolder = ""
        for (input, file) in files.enumerated() {
            for spec in 0..<naming.specCount {
                let number = input * naming.specCount + spec
                guard let path = naming.path(of: spec, file, place: input, among: files.count) else {
                    left.insert(number)
                    refusals.append(
                        .init(
                            code: "leavesFolder",
                            sentence: "the name for \(file.path) is not a path below the output folder"))
                    continue
                }
                let hash = PlaceTable.hash(path)
                let first = table.insert(number, hash: hash) { [files] other in
                    Self.path(of: other, files, naming).map { PathKey($0) } == PathKey(path)
                }
                if let first { alike[first, default: []].append(number) }
                let candidate = Candidate(input: input, spec: spec, file: file, path: path)
                if let failure = obstacle(candidate) {
                    left.insert(number)
                    unfit[input, default: []].append(failure)
                    continue
                }
                if let refusal = promise(candidate) { misnamed.append(refusal) }
                let folder = OutputFolderGuard.parent(path)
                if !folder.utf8.elementsEqual(lastFolder.utf8) {
                    lastFolder = folder
                    if seen.insert(PathKey(folder)).inserted { folders.append((folder, number)) }
                }
            }
        }
        refusals += misnamed
    }

    /// The path of an output by its number.
    func path(of number: Int) -> String? { Self.path(of: number, files, naming) }

    func input(of number: Int) -> InputFile { files[number / naming.specCount] }

    private static func path(of number: Int, _ files: InputFiles, _ naming: OutputNaming) -> String? {
        let input = number / naming.specCount
        return naming.path(of: number % naming.specCount, files[input], place: input, among: files.count)
    }

    /// Outputs that share a path, in groups of those that can be made.
    var collisions: [[Int]] {
        alike.map { first, others in ([first] + others).filter { !left.contains($0) } }
            .filter { $0.count > 1 }.sorted { $0[0] < $1[0] }
    }

    /// Outputs at whose path other outputs need a folder, each with one of those.
    mutating func filesInTheWay() -> [(path: String, output: String)] {
        var seen: Set<PathKey> = []
        var found: [(path: String, output: String)] = []
        for folder in folders {
            var parent = folder.path
            while parent.utf8.count > naming.folder.utf8.count, seen.insert(PathKey(parent)).inserted {
                let place = table.place(hash: PlaceTable.hash(parent)) { [files, naming] other in
                    Self.path(of: other, files, naming).map { PathKey($0) } == PathKey(parent)
                }
                if let place, !left.contains(place), let output = path(of: folder.output) {
                    found.append((parent, output))
                }
                parent = OutputFolderGuard.parent(parent)
            }
        }
        return found
    }
}
