import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceAPI
import TaskModel

/// What the service answers to; `openapi.yml` in this folder describes it.
package enum ServiceRouter {
    /// The description of the interface, in YAML.
    package static var description: String { String(decoding: PackageResources.openapi_yml, as: UTF8.self) }

    /// Longest body in bytes: an environment and a long command line fit many times.
    private static let maxBody = 4 << 20

    static func make(_ keeper: JobKeeper, _ service: BackgroundService) -> Router<PeerContext> {
        let router = Router(context: PeerContext.self)
        router.add(middleware: PeerCheck(idleness: service.idleness))
        router.get("openapi.yml") { _, _ in
            Answer.text(Data(description.utf8), .ok, "application/yaml")
        }
        let v1 = router.group("v1")
        routes(v1, keeper, service)
        return router
    }

    private static func routes(_ v1: RouterGroup<PeerContext>, _ keeper: JobKeeper, _ service: BackgroundService) {
        v1.get("status") { _, _ in Answer.document(service.status) }
        v1.post("drain") { _, _ in
            service.drain()
            return Answer.document(service.status)
        }
        v1.get("usage") { request, _ in
            let text = request.uri.queryParameters["days"]
            guard let days = text.map({ Double($0) }) ?? 1, UsageDocument.possibleDays.contains(days) else {
                return noDays
            }
            return await Answer.of { () throws(Refusal) in try keeper.usage(period: days * 86_400) }
        }
        v1.post("devices/clear") { _, _ in
            await Answer.of { () throws(Refusal) in
                try keeper.clearDevices()
                return service.status
            }
        }
        v1.get("jobs") { request, _ in
            let all = request.uri.queryParameters["all"] != nil
            return await Answer.of { () throws(Refusal) in try keeper.documents(all: all) }
        }
        v1.post("jobs") { request, _ in
            switch try await body(of: request, JobSubmission.self, "submission") {
            case .failure(let refusal): return Answer.refusal(refusal)
            case .success(let submission):
                return await Answer.of(.created) { () throws(Refusal) in try keeper.submit(submission) }
            }
        }
        v1.post("simulations") { request, _ in
            switch try await body(of: request, Simulation.self, "simulation") {
            case .failure(let refusal): return Answer.refusal(refusal)
            case .success(let simulation):
                return await Answer.of { () throws(Refusal) in
                    try keeper.simulate(simulation)
                    return simulation
                }
            }
        }
        v1.get("jobs/:id") { _, context in
            guard let id = job(context) else { return unknown }
            return await Answer.of { () throws(Refusal) in try keeper.found(id) }
        }
        v1.get("jobs/:id/events") { request, context in
            guard let id = job(context) else { return unknown }
            return events(of: id, request, keeper)
        }
        v1.get("jobs/:id/log") { request, context in
            guard let id = job(context) else { return unknown }
            return await log(of: id, keeper)
        }
        v1.post("jobs/:id/:verb") { _, context in
            guard let id = job(context) else { return unknown }
            guard let verb = context.parameters.get("verb").flatMap(JobVerb.init(rawValue:)) else {
                return Answer.refusal(
                    .init(
                        code: "badVerb", sentence: "Nothing like that can be asked of a job.",
                        fix: "Ask one of \(JobVerb.allCases.map(\.rawValue).joined(separator: ", "))."))
            }
            return await Answer.of { () throws(Refusal) in try keeper.ask(id, verb) }
        }
    }

    private static func body<Document: Decodable>(
        of request: Request, _ type: Document.Type, _ name: String
    ) async throws -> Result<Document, Refusal> {
        let body = try await request.body.collect(upTo: maxBody)
        do {
            return .success(try JSONDecoder().decode(type, from: Data(body.readableBytesView)))
        } catch {
            return .failure(
                .init(
                    code: "bad\(name.capitalized)", sentence: "The body is no \(name): \(sentence(error)).",
                    fix: "See /openapi.yml."))
        }
    }

    private static func job(_ context: PeerContext) -> UInt64? {
        context.parameters.get("id").flatMap { UInt64($0) }
    }

    private static var unknown: Response {
        Answer.refusal(
            .init(code: "noSuchJob", sentence: "Jobs have numbers.", fix: "GET /v1/jobs lists them."), .notFound)
    }

    private static var noDays: Response {
        let last = Int(UsageDocument.possibleDays.upperBound)
        return Answer.refusal(
            .init(
                code: "badDays", sentence: "\"days\" is no number from 0 to \(last).",
                fix: "Give how many days are looked back, or nothing for one."))
    }

    private static func sentence(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, _)?: "\"\(key.stringValue)\" is missing"
        case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?, .dataCorrupted(let context)?:
            context.codingPath.isEmpty
                ? "it is not JSON"
                : "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\" has another type"
        default: "it is not JSON"
        }
    }

    // MARK: Events

    /// Server-sent events (HTML standard, section 9.2), from the one after `Last-Event-ID` on.
    private static func events(of id: UInt64, _ request: Request, _ keeper: JobKeeper) -> Response {
        let last = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }.flatMap { UInt64($0) } ?? 0
        let query = request.uri.queryParameters
        do throws(Refusal) {
            let (stream, leave) = try keeper.events(
                of: id, after: last, isWaiting: query["attach"] != nil, isQuiet: query["quiet"] != nil)
            return Response(
                status: .ok, headers: Answer.headers("text/event-stream"),
                body: .init { writer in
                    defer { leave() }
                    try await request.body.consumeWithInboundCloseHandler { _ in
                        for await event in stream { try await writer.write(Self.text(event)) }
                    } onInboundClosed: {
                        leave()
                    }
                    try await writer.finish(nil)
                })
        } catch {
            return Answer.refusal(error)
        }
    }

    private static func text(_ event: JobEvent) -> ByteBuffer {
        ByteBuffer(string: "id: \(event.id)\nevent: \(event.kind.rawValue)\ndata: \(JSONDocument.encode(event))\n\n")
    }

    // MARK: Logs

    /// Bytes of a log that are held at once.
    private static let logPart = 256 << 10

    /// In parts, so that the longest log takes no more of the service, and as far as it reaches now: its job may write
    /// faster than its reader reads.
    private static func log(of id: UInt64, _ keeper: JobKeeper) async -> Response {
        let path = keeper.place.log(of: id)
        let opened = await OwnThreads.block { () throws -> (FileHandle, UInt64) in
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            let size = try file.seekToEnd()
            try file.seek(toOffset: 0)
            return (file, size)
        }
        guard case .success((let file, let size)) = opened else {
            return Answer.refusal(
                .init(
                    code: "noLog", sentence: "There is no log of a job \(id).",
                    fix: "A log begins with the job's first run."))
        }
        return Response(
            status: .ok, headers: Answer.headers("text/plain; charset=utf-8"),
            body: .init { writer in
                var left = Int(size)
                while left > 0 {
                    let count = min(left, Self.logPart)
                    let read = await OwnThreads.block { () throws -> Data? in try file.read(upToCount: count) }
                    // Somebody may have emptied it.
                    guard let part = try read.get(), !part.isEmpty else { break }
                    left -= part.count
                    try await writer.write(ByteBuffer(bytes: part))
                }
                try await writer.finish(nil)
            })
    }
}
