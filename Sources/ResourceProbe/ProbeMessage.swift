package import OpenCLKit

/// One line from the probing process, as JSON. Sent before each step, so that the last line tells where a driver died.
package enum ProbeMessage: Codable, Hashable, Sendable {
    package enum Step: String, Codable, Hashable, Sendable {
        case openLoader, openLibrary, listPlatforms, listDevices, context, build, run

        /// Completes "while ...".
        package var words: String {
            switch self {
            case .openLoader: "the OpenCL loader was opened"
            case .openLibrary: "its library was opened"
            case .listPlatforms: "its platforms were listed"
            case .listDevices: "its devices were listed"
            case .context: "a context was made"
            case .build: "the known-answer kernel was built"
            case .run: "the known-answer kernel ran"
            }
        }
    }

    package enum Outcome: Codable, Hashable, Sendable {
        case healthy, wrongAnswer, unavailable, noCompiler
        /// An OpenCL call failed, in its own words.
        case failed(String)
    }

    case step(Step)
    case noLoader(String)
    case noLibrary(String)
    case platform(name: String, vendor: String, version: String)
    /// A device of the last platform; the steps that follow are its.
    case device(DeviceInfo)
    case outcome(Outcome)
    /// Listing failed, in OpenCL's words.
    case failed(String)
    case done
}
