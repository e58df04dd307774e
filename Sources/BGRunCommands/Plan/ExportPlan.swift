import ChunkedCompute
import ImageCodecs
import ImageExport
import TaskStore

/// What an export is going to do, known before any picture is opened.
///
/// It holds for each input where it lies and how each of its outputs stands, and makes paths and settings of that when an
/// item is asked for: a million small pictures take some hundred megabytes.
struct ExportPlan: WorkPlan {
    /// An input with the outputs it still needs.
    struct Item: Sendable {
        var input: InputFile
        var outputs: [PictureOrder.Output]
        /// Why there are no other ones.
        var missing: [ItemResult.Failure]
    }

    /// How an output stands.
    enum State: UInt8, Sendable {
        /// It has no path, cannot be made, or is not made because of what stands there.
        case left
        case current
        case make, replace
    }

    private let files: InputFiles
    private let naming: OutputNaming
    /// The settings of every output of an input, made or not.
    let settings: [OutputSettings]
    private let settingsText: SettingsText
    /// What decides the bytes of outputs beside their settings.
    private let cause: String
    /// What becomes of each output, by its number.
    private var states: [State]
    private var current = CurrentOutputs()
    /// Files that stand at the paths of outputs and are not ours, by the outputs' numbers.
    private var foreign: [Int: FileIdentity] = [:]
    /// Why outputs are not made, by input.
    private var missing: [Int: [ItemResult.Failure]]
    /// Places of inputs to work on.
    private var todo: [UInt32] = []
    /// Places of inputs that need no work, or of which only some outputs stand and no other can be made.
    private var done: [UInt32] = []
    /// Inputs that can have no work, and what was found in their place.
    private var odd: [InputRecord] = []

    /// What lies among the inputs and is none: outputs of bgrun's own, links to folders.
    var passedOver: [InputRecord] = []
    var refusals: [PlanRefusal] = []
    /// Folders of the outputs to be made.
    private(set) var outputFolders: Set<String> = []
    /// Workers send pictures through a model, instead of exporting them as they are.
    var isEnhancement = false

    init(
        _ files: InputFiles, _ naming: OutputNaming, _ settings: [OutputSettings], cause: String,
        odd: [InputRecord], missing: [Int: [ItemResult.Failure]]
    ) {
        self.files = files
        self.naming = naming
        self.settings = settings
        self.cause = cause
        self.odd = odd
        self.missing = missing
        settingsText = SettingsText(settings)
        states = Array(repeating: .left, count: files.count * naming.specCount)
    }

    // MARK: Making it

    /// Notes how an output stands, in the order of their numbers.
    mutating func note(_ number: Int, _ standing: Standing, path: String) {
        switch standing {
        case .make(let mayReplace, let foreign):
            states[number] = mayReplace ? .replace : .make
            self.foreign[number] = foreign
            let folder = OutputFolderGuard.parent(path)
            if !outputFolders.contains(folder) { outputFolders.insert(folder) }
        case .current(let made):
            states[number] = .current
            current.append(number, made)
        case .occupied(let other):
            missing[number / naming.specCount, default: []].append(
                .init(code: InputRecord.outputExists, reason: Standing.occupation(of: path, madeFrom: other)))
        case .refused:
            refusals.append(.init(code: "outputExists", sentence: "\(path) exists already"))
        }
    }

    /// All outputs of an input are noted.
    mutating func close(_ input: Int) {
        let numbers = numbers(of: input)
        if states[numbers].contains(where: { $0 == .make || $0 == .replace }) {
            todo.append(UInt32(input))
        } else {
            done.append(UInt32(input))
        }
    }

    /// Nothing can be made of an input.
    mutating func leaveOut(_ record: InputRecord) { odd.append(record) }

    /// What an output is to be, as the journal would note it.
    func wanted(_ number: Int, _ file: InputFile, path: String) -> PlannedOutput {
        let spec = number % naming.specCount
        return PlannedOutput(
            path: path, input: file.path, inputIdentity: file.identity,
            settings: settingsText.text(spec, naming.format(of: spec, file)) + cause, foreign: foreign[number])
    }

    // MARK: Reading it

    var inputCount: Int { todo.count + done.count + odd.count }
    var itemCount: Int { todo.count }
    var haveOneInput: Bool { true }

    var items: LazyMapSequence<Range<Int>, Item> { (0..<todo.count).lazy.map { item($0) } }

    /// Inputs that need no work or can have none, with their records.
    var settled: SettledInputs { SettledInputs(plan: self) }

    struct SettledInputs: RandomAccessCollection {
        fileprivate let plan: ExportPlan

        var startIndex: Int { 0 }
        var endIndex: Int { plan.odd.count + plan.done.count }

        subscript(place: Int) -> InputRecord {
            place < plan.odd.count ? plan.odd[place] : plan.record(ofDone: Int(plan.done[place - plan.odd.count]))
        }
    }

    func inputs(of item: Int) -> [InputFile] { [files[Int(todo[item])]] }

    func inputBytes(of item: Int) -> Int64 { files.identity(of: Int(todo[item])).size }

    func intents(of item: Int) -> [PlannedOutput] {
        let place = Int(todo[item])
        let file = files[place]
        return made(of: place, file).map { wanted($0.number, file, path: $0.path) }
    }

    func order(of item: Int, lane: LaneChoice, limits: DecodeLimits) -> WorkOrder {
        let place = Int(todo[item])
        let file = files[place]
        let order = PictureOrder(
            input: file.path, outputs: outputs(of: place, file), lane: lane, claimBytes: limits.maxWorkingBytes)
        return isEnhancement ? .enhance(order) : .export(order)
    }

    func longestSilence(of item: Int) -> Double { encodingSeconds(of: self.item(item)).max() ?? 0 }

    /// About how long the encode of each output takes.
    func encodingSeconds(of item: Item) -> [Double] {
        item.outputs.map {
            $0.settings(among: settings).encodingSeconds(inputBytes: item.input.identity.size)
        }
    }

    func records(of item: Int, _ result: ItemResult, device: String, seconds: Double) -> [InputRecord] {
        let place = Int(todo[item])
        let file = files[place]
        var record = InputRecord(
            file, result, current: current(of: place, file).map(\.output), device: device, seconds: seconds)
        record.addMissing(result.refused + (missing[place] ?? []))
        return [record]
    }

    private func item(_ item: Int) -> Item {
        let place = Int(todo[item])
        let file = files[place]
        return Item(input: file, outputs: outputs(of: place, file), missing: missing[place] ?? [])
    }

    private func outputs(of place: Int, _ file: InputFile) -> [PictureOrder.Output] {
        made(of: place, file).map { number, path in
            let spec = number % naming.specCount
            return .init(
                settings: spec, format: naming.format(of: spec, file), path: path,
                mayReplace: states[number] == .replace)
        }
    }

    /// Outputs of an input that are to be made.
    private func made(of place: Int, _ file: InputFile) -> [(number: Int, path: String)] {
        numbers(of: place).compactMap { number in
            guard states[number] == .make || states[number] == .replace else { return nil }
            return path(of: number, file).map { (number, $0) }
        }
    }

    private func record(ofDone place: Int) -> InputRecord {
        let file = files[place]
        var record = InputRecord(file, current: current(of: place, file))
        record.addMissing(missing[place] ?? [])
        return record
    }

    private func current(of place: Int, _ file: InputFile) -> [InputRecord.Current] {
        numbers(of: place).compactMap { number in
            guard states[number] == .current, let output = current[number], let path = path(of: number, file)
            else { return nil }
            return InputRecord.Current(path: path, output)
        }
    }

    private func numbers(of input: Int) -> Range<Int> {
        input * naming.specCount..<(input + 1) * naming.specCount
    }

    private func path(of number: Int, _ file: InputFile) -> String? {
        naming.path(
            of: number % naming.specCount, file, place: number / naming.specCount, among: files.count)
    }

    /// Looks at the first bytes of what is to be done, and settles what is no picture.
    mutating func checkContents() {
        var strangers: [InputRecord] = []
        todo.removeAll { place in
            let file = files[Int(place)]
            guard !ContentCheck.looksLikePicture(file.path) else { return false }
            strangers.append(
                file.isNamed || PictureNames.promisePicture(file.name)
                    ? InputRecord(
                        input: file.path, status: .failed, code: "unknownFormat",
                        reason: "the file is not a picture that bgrun reads", inputBytes: Int(file.identity.size))
                    : InputRecord(notAPicture: file))
            return true
        }
        odd += strangers
    }
}
