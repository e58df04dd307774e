package import TaskModel

/// What a client asks the service to run: the body of `POST /v1/jobs`.
package struct JobSubmission: Codable, Hashable, Sendable {
    package enum Work: String, Codable, Sendable {
        /// A command of bgrun itself, which speaks the service's own language: `bgrun export …`.
        case bgrun
        /// Any command.
        case command
    }

    package var work: Work
    /// For `bgrun` without the program's name; for a command with it.
    package var arguments: [String]
    /// Absolute path of the folder it runs in.
    package var folder: String
    /// All that it finds in its environment.
    package var environment: [String: String]
    /// Rights that its new files do not give; nil as the service was started. See ``FileMask``.
    package var umask: UInt32?
    package var mode: TaskKind
    package var title: String
    package var subtitle: String
    /// The last part of its identifier; the same work has the same name.
    package var name: String
    package var requiresExternalPower: Bool
    package var requiresNetwork: Bool
    /// Of processing.
    package var requiresIdle: Bool
    package var requiresGPU: Bool
    package var prefersGPU: Bool
    /// Refused instead of queued when it cannot start at once.
    package var failsWithoutRoom: Bool
    /// Seconds since 1970.
    package var earliestBegin: Double?
    /// Seconds from one start to the next; nil runs once.
    package var interval: Double?
    package var memoryBytes: Int
    package var initiator: TaskRequest.Initiator
    /// Somebody waits for it: it starts in the foreground.
    package var foreground: Bool
    /// Seconds from the request to stop until it is killed.
    package var grace: Double?
    /// The same key again is the same submission again.
    package var requestKey: String?

    package init(
        work: Work, arguments: [String], folder: String, environment: [String: String], umask: UInt32? = nil,
        mode: TaskKind = .continued, title: String, subtitle: String = "", name: String,
        requiresExternalPower: Bool = false, requiresNetwork: Bool = false, requiresIdle: Bool = false,
        requiresGPU: Bool = false, prefersGPU: Bool = false, failsWithoutRoom: Bool = false,
        earliestBegin: Double? = nil, interval: Double? = nil, memoryBytes: Int = 0,
        initiator: TaskRequest.Initiator = .script, foreground: Bool = false, grace: Double? = nil,
        requestKey: String? = nil
    ) {
        self.work = work
        self.arguments = arguments
        self.folder = folder
        self.environment = environment
        self.umask = umask
        self.mode = mode
        self.title = title
        self.subtitle = subtitle
        self.name = name
        self.requiresExternalPower = requiresExternalPower
        self.requiresNetwork = requiresNetwork
        self.requiresIdle = requiresIdle
        self.requiresGPU = requiresGPU
        self.prefersGPU = prefersGPU
        self.failsWithoutRoom = failsWithoutRoom
        self.earliestBegin = earliestBegin
        self.interval = interval
        self.memoryBytes = memoryBytes
        self.initiator = initiator
        self.foreground = foreground
        self.grace = grace
        self.requestKey = requestKey
    }
}

extension JobSubmission {
    private enum CodingKeys: String, CodingKey {
        case work, arguments, folder, environment, umask, mode, title, subtitle, name, requiresExternalPower
        case requiresNetwork, requiresIdle, requiresGPU, prefersGPU, failsWithoutRoom, earliestBegin, interval
        case memoryBytes, initiator, foreground, grace, requestKey
    }

    /// Only `arguments` and `folder` have to be there.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys, or other: Value) throws -> Value {
            try values.decodeIfPresent(Value.self, forKey: key) ?? other
        }
        let arguments = try values.decode([String].self, forKey: .arguments)
        self.init(
            work: try value(.work, or: .command), arguments: arguments,
            folder: try values.decode(String.self, forKey: .folder),
            environment: try value(.environment, or: [:]), umask: try value(.umask, or: nil),
            mode: try value(.mode, or: .continued), title: try value(.title, or: arguments.first ?? ""),
            subtitle: try value(.subtitle, or: ""),
            name: try value(.name, or: ""), requiresExternalPower: try value(.requiresExternalPower, or: false),
            requiresNetwork: try value(.requiresNetwork, or: false), requiresIdle: try value(.requiresIdle, or: false),
            requiresGPU: try value(.requiresGPU, or: false), prefersGPU: try value(.prefersGPU, or: false),
            failsWithoutRoom: try value(.failsWithoutRoom, or: false),
            earliestBegin: try value(.earliestBegin, or: nil), interval: try value(.interval, or: nil),
            memoryBytes: try value(.memoryBytes, or: 0), initiator: try value(.initiator, or: .script),
            foreground: try value(.foreground, or: false), grace: try value(.grace, or: nil),
            requestKey: try value(.requestKey, or: nil))
    }
}
