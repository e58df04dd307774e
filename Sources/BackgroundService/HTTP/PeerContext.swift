import CProcess
import Glibc
import Hummingbird
import NIOCore
import ServiceAPI

/// A request, and the connection that it came by.
struct PeerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Lets only the service's own user in, whatever the file modes of its socket are, and counts who is there.
struct PeerCheck: RouterMiddleware {
    let idleness: IdleWatch

    func handle(
        _ request: Request, context: PeerContext,
        next: @concurrent (Request, PeerContext) async throws -> Response
    ) async throws -> Response {
        guard let options = context.channel as? any SocketOptionProvider,
            let peer: bg_peer = try? await options.unsafeGetSocketOption(
                level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
            ).get(),
            peer.user == geteuid()
        else {
            return Answer.refusal(
                .init(
                    code: "otherUser", sentence: "This service belongs to another user.", fix: "Use your own service."),
                .forbidden)
        }
        idleness.requestBegan()
        defer { idleness.requestEnded() }
        return try await next(request, context)
    }
}
