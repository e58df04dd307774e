/// Why something cannot be used: for a program to act on, for a person to read, and what would help.
package struct Cause: Codable, Hashable, Sendable {
    /// Stable; part of the JSON that `bgrun devices` prints.
    package enum Code: String, Codable, Hashable, Sendable, CaseIterable {
        /// The OpenCL loader library cannot be opened.
        case noLoader
        /// No driver is registered with the loader.
        case noICD
        /// A driver's `.icd` file does not name a library.
        case icdFileUnreadable
        /// The library that an `.icd` file names, or one that it needs, cannot be opened.
        case icdLibraryMissing
        /// The library opens and offers no OpenCL platform.
        case noPlatform
        case driverCrashed
        case driverHung
        /// The driver ended the process that asked it.
        case driverExited
        /// An OpenCL call failed; the sentence names it.
        case driverFailed
        case platformWithoutDevices
        /// The device computes something other than asked.
        case wrongAnswer
        case deviceUnavailable
        /// The device cannot compile kernels.
        case noCompiler
        /// Devices were found and pass, but none is a GPU.
        case onlyCPUDevices
        /// A render node exists that this user may not open.
        case noRenderPermission
        /// The probing process itself could not be started; says nothing about the machine.
        case probeNotStarted
    }

    package var code: Code
    /// One sentence, complete in itself.
    package var sentence: String
    /// What the person can do; empty when nothing is known to help.
    package var fix: String

    package init(_ code: Code, _ sentence: String, fix: String) {
        self.code = code
        self.sentence = sentence
        self.fix = fix
    }
}
