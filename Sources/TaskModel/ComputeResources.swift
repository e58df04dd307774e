/// What a job needs beyond CPU time and memory.
package struct ComputeResources: OptionSet, Hashable, Codable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A healthy OpenCL device of GPU type (rule 32).
    package static let gpu = ComputeResources(rawValue: 1 << 0)
}

/// Why a machine does not offer a resource, as found by looking (rule 20).
package struct ResourceAbsence: Hashable, Codable, Sendable {
    package var resource: ComputeResources
    /// Stable machine code, e.g. `noLoader`, `noPlatform`, `onlyCPUDevices`, `probeHung`.
    package var code: String
    /// What was found, one sentence.
    package var sentence: String
    /// What would help, one sentence.
    package var fix: String

    package init(resource: ComputeResources, code: String, sentence: String, fix: String) {
        self.resource = resource
        self.code = code
        self.sentence = sentence
        self.fix = fix
    }
}
