import Foundation
import SchedulingCore
import TaskModel
import Yams

/// Reads a manifest from YAML or JSON.
package enum ManifestFile {
    /// A manifest is a page or two; whatever is larger is something else.
    static let maxBytes = 256 * 1024
    private static let keys = ["program", "modes", "identifiers", "grants", "entryPoints"]

    /// The manifest in a file.
    package static func read(path: String) throws(ManifestError) -> Manifest {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(filePath: path))
            defer { try? handle.close() }
            data = try handle.read(upToCount: maxBytes + 1) ?? Data()
        } catch {
            throw ManifestError(
                file: path,
                first: .init(
                    code: "unreadable", field: "", line: nil,
                    sentence: "The manifest cannot be read: \(reason(error)).",
                    fix: "Check the path and its permissions."))
        }
        guard data.count <= maxBytes, let text = String(data: data, encoding: .utf8) else {
            throw ManifestError(
                file: path,
                first: .init(
                    code: "notText", field: "", line: nil,
                    sentence: data.count > maxBytes
                        ? "The file has more than \(maxBytes) bytes." : "The file is not UTF-8 text.",
                    fix: "Name a manifest in YAML or JSON."))
        }
        return try parse(text, file: path)
    }

    /// The manifest in a text.
    package static func parse(_ text: String, file: String? = nil) throws(ManifestError) -> Manifest {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw ManifestError(file: file, first: syntaxMistake(error))
        }
        var check = ManifestCheck(file: file)
        guard let root, let mapping = root.mapping else {
            throw ManifestError(
                file: file,
                first: .init(
                    code: "notAMapping", field: "", line: root?.mark?.line ?? 1,
                    sentence: "The manifest does not consist of keys with values.",
                    fix: "Start with \"program: org.example.photos\"."))
        }
        for key in mapping.keys {
            let name = key.string ?? ""
            if !keys.contains(name) {
                let meant = ClosestNames.closest(to: name, among: keys)
                check.note(
                    "unknownKey", field: name, line: key.mark?.line, "\"\(name)\" is no key of a manifest.",
                    fix: meant.first.map { "Did you mean \"\($0)\"?" } ?? "Use \(ManifestCheck.list(keys)).")
            }
        }
        return try read(mapping, &check)
    }

    private static func read(_ mapping: Node.Mapping, _ check: inout ManifestCheck) throws(ManifestError) -> Manifest {
        var program = ""
        if let node = value("program", of: mapping, required: true, &check) {
            if let entry = text(node) {
                program = check.program(entry)
            } else {
                check.note(
                    "notText", field: "program", line: node.mark?.line, "\"program\" is not a text.",
                    fix: "Write a reverse-DNS name such as \"org.example.photos\".")
            }
        }
        let modes = check.modes(list("modes", of: mapping, required: true, &check))
        let permitted = check.identifiers(
            list("identifiers", of: mapping, required: true, &check), program: program, modes: modes)
        let grants = check.grants(list("grants", of: mapping, required: false, &check))
        var entryPoints: [IdentifierPattern: [String]] = [:]
        if let node = value("entryPoints", of: mapping, required: false, &check) {
            if let commands = node.mapping {
                for (key, command) in commands {
                    guard let pattern = text(key) else { continue }
                    let field = "entryPoints.\(pattern.text)"
                    guard let words = words(of: command, field: field, &check) else { continue }
                    let (name, line) = check.entryPoint(for: pattern, command: words, permitted: permitted)
                    entryPoints[name] = line
                }
            } else {
                check.note(
                    "notAMapping", field: "entryPoints", line: node.mark?.line,
                    "\"entryPoints\" does not give a command for each identifier.",
                    fix: "Write IDENTIFIER: [PROGRAM, ARGUMENT, ...] below it.")
            }
        }
        return try check.result(
            Manifest(
                program: ProgramManifest(
                    program: program, modes: modes, permitted: permitted, grants: grants.resources,
                    entryPoints: entryPoints),
                grantsHealthResearch: grants.healthResearch))
    }

    private static func value(
        _ key: String, of mapping: Node.Mapping, required: Bool, _ check: inout ManifestCheck
    ) -> Node? {
        let node = mapping.first { $0.key.string == key }?.value
        if node == nil, required {
            check.note(
                "missingKey", field: key, line: 1, "\"\(key)\" is missing.",
                fix: "Add it; a list may be empty as [].")
        }
        return node
    }

    private static func list(
        _ key: String, of mapping: Node.Mapping, required: Bool, _ check: inout ManifestCheck
    ) -> [ManifestCheck.Entry] {
        guard let node = value(key, of: mapping, required: required, &check) else { return [] }
        return words(of: node, field: key, &check) ?? []
    }

    private static func words(
        of node: Node, field: String, _ check: inout ManifestCheck
    ) -> [ManifestCheck.Entry]? {
        guard let sequence = node.sequence else {
            check.note(
                "notAList", field: field, line: node.mark?.line, "\"\(field)\" is not a list.",
                fix: "Write its values in brackets, or one in each line after \"- \".")
            return nil
        }
        var entries: [ManifestCheck.Entry] = []
        for (index, element) in sequence.enumerated() {
            if let entry = text(element) {
                entries.append(entry)
            } else {
                check.note(
                    "notText", field: "\(field)[\(index)]", line: element.mark?.line, "The value is not a text.",
                    fix: "Write one text for each value.")
            }
        }
        return entries
    }

    private static func text(_ node: Node) -> ManifestCheck.Entry? {
        guard let scalar = node.scalar else { return nil }
        return .init(scalar.string, line: node.mark?.line)
    }

    private static func syntaxMistake(_ error: any Error) -> ManifestError.Mistake {
        var line: Int?
        var sentence = "The file is neither YAML nor JSON."
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            line = mark.line
            sentence = "The file cannot be parsed: \(problem.trimmingCharacters(in: .whitespacesAndNewlines))."
        case .duplicatedKeysInMapping(let duplicates, let context):
            let name = duplicates.map(\.description).sorted().first ?? ""
            line = context.mark.line
            return .init(
                code: "repeatedKey", field: name, line: line, sentence: "\"\(name)\" is given more than once.",
                fix: "Keep one of them.")
        case .reader(let problem, _, _, _):
            sentence = "The file cannot be parsed: \(problem)."
        default:
            break
        }
        return .init(
            code: "syntax", field: "", line: line, sentence: sentence, fix: "Correct the syntax at this place.")
    }

    private static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        guard underlying.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return String(cString: strerror(Int32(underlying.code)))
    }
}
