import Foundation
import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOPosix
import SystemText

/// The socket that requests come by, and the serving of them.
enum ServiceSocket {
    /// Made here, for its owner alone.
    case path(String)
    /// Listens already: whoever started this process has made it (sd_listen_fds(3)).
    case passed(Int32)

    /// The first descriptor that is passed.
    private static let firstPassed: Int32 = 3
    private static let backlog: Int32 = 256

    /// What was passed to this process, or else the path.
    static func standard(_ path: String, environment: [String: String]) -> ServiceSocket {
        guard environment["LISTEN_PID"].flatMap({ pid_t($0) }) == getpid(),
            environment["LISTEN_FDS"].flatMap({ Int($0) }) ?? 0 >= 1
        else { return .path(path) }
        // No job inherits it.
        _ = fcntl(firstPassed, F_SETFD, FD_CLOEXEC)
        return .passed(firstPassed)
    }

    /// Answers requests until the task is cancelled.
    ///
    /// - Parameters:
    ///   - responder: Answers one.
    ///   - onReady: Is called when it listens.
    /// - Throws: What keeps it from listening.
    func serve(
        _ responder: some HTTPResponder<PeerContext>, onReady: @escaping @Sendable () -> Void
    ) async throws {
        var logger = Logger(label: "bgrun.service")
        logger.logLevel = .error
        let log = logger
        let child = HTTP1Channel(responder: { request, writer, channel in
            let context = PeerContext(source: .init(channel: channel, logger: log))
            var response: Response
            do {
                response = try await responder.respond(to: request, context: context)
            } catch let error as any HTTPResponseError {
                response = Response(status: error.status)
            } catch {
                response = Response(status: .internalServerError)
            }
            response.headers[.server] = "bgrun"
            let body = try await writer.writeHead(response.head)
            try await response.body.write(body)
        })
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: Self.backlog)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
        let server: NIOAsyncChannel<HTTP1Channel.Value, Never>
        switch self {
        case .path(let path):
            server = try await bootstrap.bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true) {
                child.setup(channel: $0, logger: log)
            }
            // Only its owner may connect. The folder is theirs alone.
            chmod(path.systemBytes, 0o600)
        case .passed(let descriptor):
            server = try await bootstrap.bind(descriptor) { child.setup(channel: $0, logger: log) }
        }
        onReady()
        try await server.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await connection in connections {
                    group.addTask { await child.handle(value: connection, logger: log) }
                }
            }
        }
    }
}
