import ArgumentParser

/// What measurements of the service have in common.
struct ServiceOptions: ParsableArguments {
    @Argument(help: "Folder of pictures, enough for some seconds of work.")
    var photos: String

    @Option(help: "Path of bgrun; by default beside this program.")
    var bgrun: String?

    @Option(help: .init("More arguments of the export, as one text.", valueName: "text"))
    var arguments = "--size 2048"

    @Flag(help: "Print JSON: an array of figures.")
    var json = false

    var exportArguments: [String] { arguments.split(separator: " ").map(String.init) }
}
