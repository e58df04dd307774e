import ArgumentParser
import ImageCodecs

/// `bgrun formats`: what pictures this machine reads and writes.
struct FormatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats",
        abstract: "List the picture formats that are read and written here, and which package adds the rest.",
        discussion: """
            Libraries of formats that not everybody needs are opened when a picture asks for them. Where one is not \
            installed, its pictures are refused with the name of its Debian package.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let rows = ImageFormat.allCases.map(FormatRow.init)
        try StandardOutput.print(
            (json ? JSONText.encode(FormatsDocument(formats: rows)) : FormatRow.table(rows)) + "\n")
    }
}

struct FormatsDocument: Encodable {
    /// Raised when a field changes its meaning or goes away.
    let version = 1
    let formats: [FormatRow]
}

/// What can be done with one format.
struct FormatRow: Encodable {
    let format: String
    let name: String
    let reads: Bool
    let writes: Bool
    /// Bits a channel that it is written with, wherever its library is.
    let bits: [Int]
    /// Opened at run time; nil for what is always there.
    let library: String?
    /// The Debian package of the library.
    let package: String?

    init(_ format: ImageFormat) {
        let isThere = format.library?.isInstalled ?? true
        self.format = format.rawValue
        name = format.name
        reads = isThere
        writes = isThere && format.isWritten
        bits = format.writtenBits
        library = format.library?.file
        package = format.library?.package
    }

    static func table(_ rows: [FormatRow]) -> String {
        func line(_ cells: [String]) -> String {
            zip(cells, [8, 12, 7, 14]).map { $0.padding(to: $1) }.joined() + (cells.last ?? "")
        }
        let lines = rows.map { row in
            let bits = row.bits.map(String.init).joined(separator: " and ")
            return line([
                row.format, row.name, row.reads ? "yes" : "no", row.writes ? "\(bits) bits" : "no",
                row.reads ? "" : "needs the package \(row.package ?? "")",
            ]).trimmingTrailingSpaces
        }
        return ([line(["FORMAT", "NAME", "READ", "WRITTEN", ""]).trimmingTrailingSpaces] + lines).joined(
            separator: "\n")
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(width - count, 1)) }

    fileprivate var trimmingTrailingSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }
}
