import ArgumentParser

/// What measurements of the service have in common.
struct ServiceOptions: ParsableArguments {
    @Argument(help: "Inputs, enough for some seconds of work: a folder of pictures, or arrays for a model.")
    var photos: String

    @Option(help: "Path of bgrun; by default beside this program.")
    var bgrun: String?

    @Option(help: .init("Run this model over the inputs, instead of exporting them.", valueName: "model.onnx"))
    var model: String?

    @Option(
        help: .init(
            "More arguments of the command, as one text; by default --size 2048 for an export.", valueName: "text"))
    var arguments: String?

    @Flag(help: "Print JSON: an array of figures.")
    var json = false

    /// The command whose work is measured, without where its outputs go.
    var work: [String] { arguments(for: photos) }

    /// The same command with other inputs.
    func arguments(for inputs: String) -> [String] {
        let command = model.map { ["infer", $0, inputs] } ?? ["export", inputs]
        return command + (arguments ?? (model == nil ? "--size 2048" : "")).split(separator: " ").map(String.init)
    }
}
