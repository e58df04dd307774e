import ImageCodecs
import ImageExport

/// Names the outputs of listed files: each has one of each spec, numbered file by file.
struct OutputNaming: Sendable {
    /// Absolute path of the output folder, which need not exist.
    var folder: String
    var formats: [ImageFormat?]
    var sizeLabels: [String]
    var templates: [NameTemplate]

    init(folder: String, specs: [OutputSpec], templates: [NameTemplate]) {
        self.folder = folder
        formats = specs.map(\.settings.format)
        sizeLabels = specs.map(\.sizeLabel)
        self.templates = templates
    }

    var specCount: Int { templates.count }

    func format(of spec: Int, _ file: InputFile) -> ImageFormat {
        formats[spec] ?? .written(forInputNamed: file.name)
    }

    /// The path of an output; nil where it would not be below the output folder.
    func path(of spec: Int, _ file: InputFile, place: Int, among count: Int) -> String? {
        let values = NameTemplate.Values(
            folder: file.folder, inputName: file.name, format: format(of: spec, file), size: sizeLabels[spec],
            index: place + 1, inputCount: count)
        return templates[spec].path(values).map { folder + "/" + $0 }
    }
}
