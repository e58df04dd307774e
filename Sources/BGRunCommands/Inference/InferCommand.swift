import ArgumentParser
import InferenceData

/// `bgrun infer`: inputs through a model.
struct InferCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "infer",
        abstract: "Run an ONNX model over pictures, arrays or texts.",
        discussion: """
            The service of bgrun does the work, as with bgrun export: it goes on when this terminal closes, stays out of \
            your way in the background, stops between two operators, and goes on with the same command; what was \
            finished is not done again.

            Inputs are pictures, folders of pictures, NumPy files (.npy, and .npz with the names of the model's inputs), \
            and with --tokenizer texts: the lines of .txt files or a field of .jsonl files. Results are written when all \
            inputs have theirs: results.jsonl with a line for each input, or with --as arrays a NumPy file for each output \
            of the model and inputs.jsonl, which says which row is whose.

            With --as boxes the model's first output is [pictures, 4 + classes, boxes] or [pictures, boxes, 5 + classes], \
            as detectors of the YOLO kind have it: middle, size and scores. [pictures, boxes, 6] is taken for corners, \
            score and class of boxes that the model has chosen (YOLOv10); of those none is left out for its overlap. Numbers that \
            are no pixels of its input, or no scores from 0 to 1, are of a model whose last step was left out, and are refused.

            EXAMPLES
              bgrun infer resnet50.onnx photos --out found --as classes --labels imagenet.txt
              bgrun infer yolov8n.onnx photos --out found --as boxes --preset yolo
              bgrun infer minilm.onnx notes.jsonl --out found --as embeddings --tokenizer tokenizer.json
              bgrun infer model.onnx data.npy --out found

            EXIT STATUS
              As bgrun export has them, and 65 for a damaged model, 69 for one that needs what is not supported, 64 where \
            what was asked for cannot be made of its outputs.
            """)

    enum Form: String, CaseIterable, ExpressibleByArgument {
        case arrays, classes, boxes, embeddings
    }

    @Argument(help: .init("The model.", valueName: "model.onnx"), completion: .file(extensions: ["onnx"]))
    var model: String

    @Argument(help: "Pictures, arrays, texts, and folders of pictures.", completion: .file())
    var inputs: [String]

    @Option(
        help: .init("Folder for the results; made when it is not there.", valueName: "folder"), completion: .directory)
    var out: String

    @Option(name: .customLong("as"), help: .init("arrays, classes, boxes or embeddings.", valueName: "form"))
    var form = Form.arrays

    @Option(help: .init("Names of the classes, one in each line.", valueName: "file"), completion: .file())
    var labels: String?

    @Option(help: .init("How many classes of each input; by default \(ResultForm.usualTop).", valueName: "n"))
    var top: Int?

    @Flag(help: "The model gives no probabilities yet: make them of its scores.")
    var softmax = false

    @Option(
        help: .init(
            "Boxes with lower scores are left out; by default \(ResultForm.usualConfidence).", valueName: "0...1"))
    var confidence: Double?

    @Option(
        help: .init(
            "Of boxes of a class that overlap more, only the best stays; by default \(ResultForm.usualOverlap).",
            valueName: "0...1"))
    var overlap: Double?

    @Option(help: .init("How tokens become one vector: mean (default), cls or none.", valueName: "way"))
    var pooling: Embeddings.Pooling?

    @Flag(inversion: .prefixedNo, help: "Give embeddings the length 1, as by default.")
    var normalise: Bool?

    @Option(
        help: .init(
            "How pictures become tensors: \(ImagePreset.names.joined(separator: ", ")), or a file; see bgrun presets.",
            valueName: "preset"), completion: .file())
    var preset = "imagenet"

    @Option(help: .init("A tokenizer.json, for texts.", valueName: "file"), completion: .file())
    var tokenizer: String?

    @Option(
        help: .init(
            "Tokens of each text, to be given for arrays; by default as many as the longest of a batch has.",
            valueName: "n"))
    var length: Int?

    @Option(
        help: .init(
            "The field of .jsonl files that holds the text; by default \(TextTerms.usualField).", valueName: "name"))
    var field: String?

    @Option(
        help: .init(
            """
            fp32; bf16 (products of 8 significant bits where the processor has them, mostly faster); fp16 (values of \
            11 significant bits in a device's memory, half of it, with --gpu or --prefer-gpu); or auto: bf16 where the \
            outputs for made up inputs differ by at most a hundredth, so that others stay within two.
            """, valueName: "numbers"))
    var precision = PrecisionChoice.fp32

    @Option(
        help: .init(
            "The most inputs in a batch; by default \(InferenceTerms.usualBatch), and more rows of an array for a small model.",
            valueName: "n"))
    var batch: Int?

    @Option(
        help: .init(
            """
            The size of an extent that the model leaves open; may be repeated. One without a name is called by its input and \
            axis, as in pixels:0=8.
            """, valueName: "name=n"))
    var extent: [String] = []

    @OptionGroup(title: "JOB") var job: JobFlags

    @OptionGroup(title: "LIMITS") var limits: LimitFlags

    func validate() throws {
        guard !inputs.isEmpty else { throw ValidationError("name at least one input") }
        guard !out.isEmpty, !model.isEmpty, !inputs.contains("") else {
            throw ValidationError("an empty path is no file or folder")
        }
        guard InferenceTerms.batches.contains(batch ?? InferenceTerms.usualBatch) else {
            throw ValidationError("--batch takes a number from 1 to 64")
        }
        guard precision != .fp16 || job.gpu || job.preferGpu else {
            throw ValidationError("--precision fp16 is how devices keep values: add --gpu or --prefer-gpu")
        }
        guard precision != .bf16 || !job.gpu else {
            throw ValidationError("--precision bf16 is how the CPU computes: leave out --gpu")
        }
        guard top ?? 1 > 0 else { throw ValidationError("--top takes a positive number") }
        guard (0...1).contains(confidence ?? 0), (0...1).contains(overlap ?? 0) else {
            throw ValidationError("--confidence and --overlap take numbers from 0 to 1")
        }
        guard Tokenizer.lengths.contains(length ?? 1) else {
            throw ValidationError("--length takes a number from 1 to \(Tokenizer.lengths.upperBound)")
        }
        for (option, isGiven, forms) in formOptions where isGiven && !forms.contains(form) {
            throw ValidationError("\(option) goes with --as \(forms.map(\.rawValue).joined(separator: " or "))")
        }
        guard tokenizer != nil || length == nil && field == nil else {
            throw ValidationError("\(length == nil ? "--field" : "--length") goes with --tokenizer")
        }
        guard Extents.parse(extent) != nil else {
            throw ValidationError("--extent takes a name and a number, as in batch=8")
        }
    }

    /// Options that say something of some forms of results alone.
    private var formOptions: [(option: String, isGiven: Bool, forms: [Form])] {
        [
            ("--labels", labels != nil, [.classes, .boxes]), ("--top", top != nil, [.classes]),
            ("--softmax", softmax, [.classes]), ("--confidence", confidence != nil, [.boxes]),
            ("--overlap", overlap != nil, [.boxes]), ("--pooling", pooling != nil, [.embeddings]),
            ("--normalise", normalise == true, [.embeddings]), ("--no-normalise", normalise == false, [.embeddings]),
        ]
    }

    func run() throws {
        try WorkSession.carryOut(try InferenceWork(self), job)
    }

    /// - Throws: A `ValidationError` for a preset that cannot be used.
    func terms(model: String) throws -> InferenceTerms {
        let preset: ImagePreset
        do {
            preset = try ImagePreset.named(self.preset)
        } catch {
            throw ValidationError("\(error)")
        }
        let labels = labels.map(CanonicalPath.input)
        let form: ResultForm =
            switch self.form {
            case .arrays: .arrays
            case .classes: .classes(top: top ?? ResultForm.usualTop, softmax: softmax, labels: labels)
            case .boxes:
                .boxes(
                    confidence: confidence ?? ResultForm.usualConfidence, overlap: overlap ?? ResultForm.usualOverlap,
                    labels: labels)
            case .embeddings: .embeddings(pooling ?? ResultForm.usualPooling, normalise: normalise ?? true)
            }
        let text = tokenizer.map {
            TextTerms(tokenizer: CanonicalPath.input($0), length: length, field: field ?? TextTerms.usualField)
        }
        return InferenceTerms(
            model: ModelTerms(path: model), extents: Extents.parse(extent) ?? [:],
            batch: batch ?? InferenceTerms.usualBatch, precision: precision, preset: preset,
            text: text, form: form)
    }
}

extension Embeddings.Pooling: ExpressibleByArgument {}
extension PrecisionChoice: ExpressibleByArgument {}

/// Sizes of extents on the command line.
enum Extents {
    /// `name=n` each; nil where one is none.
    static func parse(_ texts: [String]) -> [String: Int]? {
        var extents: [String: Int] = [:]
        for text in texts {
            guard let equals = text.lastIndex(of: "="), equals > text.startIndex,
                let size = Int(text[text.index(after: equals)...]), size > 0
            else { return nil }
            extents[String(text[..<equals])] = size
        }
        return extents
    }
}
