/// The device that the process of a job is to use, as its host says in the environment.
package enum AssignedDevice: Hashable, Sendable {
    package static let variable = "BGRUN_JOB_DEVICE"
    /// For a job that would use one and gets none now.
    package static let none = ""

    /// Nobody has decided.
    case any
    case identity(String)
    case nothing

    package init(_ environment: [String: String]) {
        switch environment[Self.variable] {
        case nil: self = .any
        case Self.none: self = .nothing
        case let identity?: self = .identity(identity)
        }
    }
}
