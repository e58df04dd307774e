import Glibc
import SystemText

/// The file of `--report`: a line of JSON for each input, written as they end.
final class ReportFile {
    /// Why a report cannot be begun; nothing was changed.
    struct Refusal: Error {
        var status: ExitStatus
        var sentence: String
    }

    private let descriptor: Int32
    private let isOwn: Bool
    /// Where the lines of `-` go when there is no standard output.
    private let lineSink: ((String) -> Void)?
    /// The errno of the first write that failed; 0 while all is well.
    private(set) var trouble: Int32 = 0

    /// Begins the report at a path; `-` is standard output.
    ///
    /// What is at the path stays what it is: links are followed, and pipes that are read and devices are written into.
    ///
    /// - Parameters:
    ///   - path: Where the report goes.
    ///   - inputs: Files that are never written, by whatever name they are reached.
    ///   - lineSink: Takes the lines of `-` instead of standard output.
    /// - Throws: ``Refusal`` when the report cannot be written or is an input.
    init(_ path: String, inputs: InputFiles, lineSink: ((String) -> Void)? = nil) throws(Refusal) {
        isOwn = path != "-"
        self.lineSink = isOwn ? nil : lineSink
        if self.lineSink != nil {
            descriptor = -1
            return
        }
        // Not emptied yet, because it could be an input; and nobody is waited for, because nobody might come.
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        descriptor = isOwn ? open(path.systemBytes, flags, mode_t(0o666)) : STDOUT_FILENO
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            let reason = errno == ENXIO ? "nobody reads from it" : String(cString: strerror(errno))
            throw Refusal(status: .cannotCreate, sentence: "the report \(path) cannot be written: \(reason)")
        }
        guard !isOwn || [S_IFREG, S_IFIFO, S_IFCHR].contains(status.st_mode & S_IFMT) else {
            throw Refusal(
                status: .cannotCreate,
                sentence: "the report \(path) cannot be written: it is neither a file nor a pipe nor a terminal")
        }
        if inputs.contains(FileKey(status)) {
            throw Refusal(status: .usage, sentence: "overwritesInput: the report \(path) is an input itself")
        }
        if isOwn, status.st_mode & S_IFMT == S_IFREG, ftruncate(descriptor, 0) != 0 {
            throw Refusal(
                status: .cannotCreate,
                sentence: "the report \(path) cannot be emptied: \(String(cString: strerror(errno)))")
        }
        // From here on whoever reads it is waited for.
        if isOwn { _ = fcntl(descriptor, F_SETFL, O_WRONLY) }
    }

    deinit {
        if isOwn, descriptor >= 0 { close(descriptor) }
    }

    func add(_ record: InputRecord) {
        // The outputs matter more than their report; its failure is told at the end.
        guard trouble == 0 else { return }
        if let lineSink { return lineSink(JSONText.encode(record)) }
        trouble = TextOutput.write(JSONText.encode(record) + "\n", to: descriptor)
    }
}
