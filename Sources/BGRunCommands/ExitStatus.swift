import ArgumentParser
import TaskModel
import TaskStore

/// The exit statuses of every command, after sysexits.h. No other place knows them.
enum ExitStatus: Int32 {
    case done = 0
    /// The command line asks for something that cannot be; nothing was started.
    case usage = 64
    /// Done, but some inputs are damaged or could not be done.
    case doneWithFailures = 65
    /// An input that was named does not exist; nothing was started.
    case missingInput = 66
    /// A required resource is missing; nothing was started.
    case unavailable = 69
    case bug = 70
    /// An output cannot be made where it should go.
    case cannotCreate = 73
    /// Writing failed, for example for want of room.
    case writeFailed = 74
    /// Stopped early; the same command goes on.
    case stoppedEarly = 75
    case notPermitted = 77
    /// The state folder or another setting is not usable.
    case configuration = 78

    var code: ExitCode { ExitCode(rawValue) }

    static func of(_ error: StoreError) -> ExitStatus {
        switch error.code {
        case .cannotOpen, .newerVersion, .damaged: .configuration
        case .busy: .stoppedEarly
        case .writeFailed: .writeFailed
        }
    }

    static func of(_ rejection: Rejection) -> ExitStatus {
        if rejection.first.detail == "alreadyRunning" { return .stoppedEarly }
        if rejection.first.detail == "identifierShape" { return .usage }
        switch rejection.code {
        case .notPermitted: return isOfTheManifest(rejection.first.detail) ? .notPermitted : .unavailable
        case .unavailable: return .notPermitted
        case .tooManyPendingTaskRequests, .immediateRunIneligible: return .stoppedEarly
        }
    }

    /// The program may not ask for this anywhere; otherwise the machine lacks something.
    private static func isOfTheManifest(_ detail: String) -> Bool {
        [
            "unknownProgram", "identifierNotPermitted", "modeMissing", "grantMissing", "handlerMissing",
            "handlerMismatch", "automaticInitiator",
        ].contains(detail)
    }

    static let help = """
        EXIT STATUS
          0    every picture was written or was there already
          64   the command line cannot be carried out as given; nothing was started
          65   done, but some inputs are damaged or could not be done (they are listed)
          66   an input that was named does not exist, or there is none; nothing was started
          69   a required resource is missing; nothing was started
          70   a fault of bgrun itself
          73   an output cannot be made where it should go
          74   writing failed, for example because the volume is full
          75   stopped early; the same command goes on
          77   not permitted
          78   the state folder is not usable
          130  left at once at a second Ctrl-C (143: at a second SIGTERM)
        """
}
