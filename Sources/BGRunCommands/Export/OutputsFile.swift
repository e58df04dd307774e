import DescribedFile

/// The file of `--outputs`: a name for each output, and below it the options of one, as `--output` has them.
enum OutputsFile {
    /// Reads the outputs in the order of the file; `base` is what holds where one says nothing.
    ///
    /// ```yaml
    /// outputs:
    ///   web: {size: 2048, quality: 85}
    ///   small:
    ///     size: 256
    ///     format: webp
    ///     name: "small/{stem}.{ext}"
    /// ```
    ///
    /// - Throws: Every mistake in the file with its line, or why it cannot be read.
    static func read(_ path: String, over base: OutputSpec) throws(OutputSpec.Mistake) -> [OutputSpec] {
        do throws(FileMistakes) {
            let described = try DescribedFile.read(path: path)
            let list = described.root.fields(["outputs"])?.required(
                "outputs", fix: "Write outputs: with a name for each.")
            let outputs = (list?.entries() ?? []).map { spec(of: $0.value, over: base) }
            if let list, list.isMapping, outputs.isEmpty {
                list.refuse("noOutputs", "There is no output in it.", fix: "Write NAME: {size: 2048}.")
            }
            try described.log.check()
            return outputs
        } catch {
            throw OutputSpec.Mistake(description: error.description)
        }
    }

    private static func spec(of value: DescribedValue, over base: OutputSpec) -> OutputSpec {
        var spec = base
        var own: Set<String> = []
        for (key, value) in value.entries() ?? [] {
            guard let name = key.text(), let text = value.text() else { continue }
            own.insert(name)
            do throws(OutputSpec.Mistake) {
                try spec.set(name, to: text)
            } catch {
                // Those of a preset are whole sentences.
                let end = error.description.hasSuffix(".") ? "" : "."
                value.refuse(
                    "badOption", "It cannot be used: \(error.description)\(end)", fix: "bgrun export --help lists all.")
            }
        }
        spec.leaveOutDefaults(beside: own)
        if let contradiction = spec.contradiction {
            value.refuse("contradiction", "\(contradiction).", fix: "Leave one of them out.")
        }
        return spec
    }
}
