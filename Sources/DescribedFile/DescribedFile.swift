import Foundation
import SystemText
import Yams

/// A file of keys and values in YAML, of which JSON is a part, read with the line of every value.
package struct DescribedFile {
    package let root: DescribedValue
    package let log: MistakeLog

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - maxBytes: Whatever is larger is something else than what a person writes.
    /// - Returns: Its values, not yet checked.
    /// - Throws: ``FileMistakes`` with `unreadable`, `notText`, `syntax` or `repeatedKey`.
    package static func read(path: String, maxBytes: Int = 4 << 20) throws(FileMistakes) -> DescribedFile {
        try parse(try text(path: path, maxBytes: maxBytes), file: path)
    }

    /// The text of a file.
    package static func text(path: String, maxBytes: Int) throws(FileMistakes) -> String {
        let data: Data
        do {
            let file = open(path.systemBytes, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
            let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
            data = try handle.read(upToCount: maxBytes + 1) ?? Data()
        } catch {
            throw mistake(
                path, "unreadable", "The file cannot be read: \(reason(error)).", "Check the path and its permissions.")
        }
        guard data.count <= maxBytes else {
            throw mistake(path, "notText", "The file has more than \(maxBytes) bytes.", "Name a smaller file.")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw mistake(path, "notText", "The file is not UTF-8 text.", "Name a file in YAML or JSON.")
        }
        return text
    }

    package static func parse(_ text: String, file: String) throws(FileMistakes) -> DescribedFile {
        let node: Node?
        do {
            node = try Yams.compose(yaml: text)
        } catch {
            throw FileMistakes(file: file, mistakes: [syntaxMistake(error)])
        }
        guard let node else {
            throw mistake(file, "notAMapping", "The file is empty.", "Write keys with values into it.")
        }
        let log = MistakeLog(file: file)
        return DescribedFile(root: DescribedValue(node: node, field: "", log: log), log: log)
    }

    private static func mistake(_ file: String, _ code: String, _ sentence: String, _ fix: String) -> FileMistakes {
        FileMistakes(
            file: file, mistakes: [FileMistake(code: code, field: "", line: nil, sentence: sentence, fix: fix)])
    }

    private static func syntaxMistake(_ error: any Error) -> FileMistake {
        let fix = "Correct the syntax at this place."
        func syntax(_ problem: String, _ line: Int?) -> FileMistake {
            let problem = problem.trimmingCharacters(in: .whitespacesAndNewlines)
            return FileMistake(
                code: "syntax", field: "", line: line, sentence: "The file cannot be parsed: \(problem).", fix: fix)
        }
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return syntax(problem, mark.line)
        case .reader(let problem, _, _, _):
            return syntax(problem, nil)
        case .duplicatedKeysInMapping(let duplicates, let context):
            let name = duplicates.map(\.description).sorted().first ?? ""
            return FileMistake(
                code: "repeatedKey", field: name, line: context.mark.line,
                sentence: "\"\(name)\" is given more than once.", fix: "Keep one of them.")
        default:
            return syntax("it is neither YAML nor JSON", nil)
        }
    }

    private static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return cause.domain == NSPOSIXErrorDomain
            ? String(cString: strerror(Int32(cause.code))) : error.localizedDescription
    }
}
