package import Foundation
import Glibc
package import ServiceAPI
package import TaskModel

/// Talks to the service of this user.
package struct ServiceClient: Sendable {
    package enum Failure: Error {
        /// No service runs.
        case absent
        case unreachable(ServiceFailure)
        /// It said no.
        case refused(Refusal)
    }

    package let place: ServicePlace

    package init(_ place: ServicePlace) {
        self.place = place
    }

    // MARK: Asking

    /// - Throws: ``Failure``.
    package func status() throws(Failure) -> ServiceStatus { try get("/v1/status") }

    /// - Throws: ``Failure``.
    package func jobs(all: Bool) throws(Failure) -> [JobDocument] { try get("/v1/jobs" + (all ? "?all" : "")) }

    /// - Throws: ``Failure``.
    package func job(_ id: UInt64) throws(Failure) -> JobDocument { try get("/v1/jobs/\(id)") }

    /// - Throws: ``Failure``.
    package func usage(days: Double) throws(Failure) -> UsageDocument { try get("/v1/usage?days=\(days)") }

    /// - Throws: ``Failure``.
    package func submit(_ submission: JobSubmission) throws(Failure) -> JobDocument {
        try post("/v1/jobs", submission)
    }

    /// Has something happen to the service (rule 99).
    ///
    /// - Throws: ``Failure``.
    package func simulate(_ simulation: Simulation) throws(Failure) {
        let _: Simulation = try post("/v1/simulations", simulation)
    }

    /// - Throws: ``Failure``.
    @discardableResult
    package func ask(_ id: UInt64, _ verb: JobVerb) throws(Failure) -> JobDocument {
        try decode(exchange("POST", "/v1/jobs/\(id)/\(verb.rawValue)"))
    }

    /// - Throws: ``Failure``.
    @discardableResult
    package func drain() throws(Failure) -> ServiceStatus { try decode(exchange("POST", "/v1/drain")) }

    /// Has devices used again that were left alone because they failed.
    ///
    /// - Throws: ``Failure``.
    package func clearDevices() throws(Failure) {
        let _: ServiceStatus = try decode(exchange("POST", "/v1/devices/clear"))
    }

    /// What a job and its programs wrote.
    ///
    /// - Throws: ``Failure``.
    package func log(of id: UInt64) throws(Failure) -> Data { try exchange("GET", "/v1/jobs/\(id)/log") }

    /// Why following a job has ended.
    package enum Followed: Sendable {
        /// The last event came.
        case toTheEnd
        /// It was enough.
        case enough
        /// The service is gone.
        case broken
    }

    /// Follows a job until its end, the service's, or until it is enough.
    ///
    /// - Parameters:
    ///   - id: Number of the job.
    ///   - last: The number of the last event that is known.
    ///   - isWaiting: A person waits for it: it is in the foreground meanwhile.
    ///   - isQuiet: Nobody is shown how far it is: events of that kind are left out.
    ///   - watching: Descriptors to listen to as well.
    ///   - woken: Is called with one of them that can be read, and with nil now and then; false is enough.
    ///   - body: Is called for each event.
    /// - Returns: Why it ended.
    /// - Throws: ``Failure``.
    package func follow(
        _ id: UInt64, after last: UInt64, isWaiting: Bool, isQuiet: Bool, watching: [Int32] = [],
        woken: (Int32?) -> Bool = { _ in true }, _ body: (JobEvent) -> Void
    ) throws(Failure) -> Followed {
        let connection = try connect()
        do throws(ServiceFailure) {
            try connection.send(
                "GET", "/v1/jobs/\(id)/events?" + (isWaiting ? "attach&" : "") + (isQuiet ? "quiet" : ""),
                headers: ["Last-Event-ID": "\(last)"])
        } catch {
            throw Self.isEnd(error) ? .absent : .unreachable(error)
        }
        var reply = HTTPReply()
        var lines = EventLines()
        var refusal = Data()
        while true {
            for descriptor in Self.wait(for: connection.descriptor, watching, isQuiet ? -1 : Self.rhythm) {
                guard woken(descriptor) else { return .enough }
            }
            guard woken(nil) else { return .enough }
            guard Self.isReadable(connection.descriptor) else { continue }
            let bytes = try received(connection)
            let content = reply.take(bytes)
            if let status = reply.status, status >= 300 {
                refusal += content
            } else {
                for event in lines.take(content) {
                    body(event)
                    if event.kind == .ended { return .toTheEnd }
                }
            }
            guard bytes.isEmpty else { continue }
            if let status = reply.status, status >= 300 { throw Self.refusal(refusal, status) }
            return .broken
        }
    }

    /// Milliseconds after which a display may have something to do.
    private static let rhythm: Int32 = 250

    /// Sleeps until something can be read, or for some milliseconds; -1 is without end.
    ///
    /// - Returns: The watched descriptors that can.
    private static func wait(for socket: Int32, _ watched: [Int32], _ milliseconds: Int32) -> [Int32] {
        var ends = ([socket] + watched).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // An interruption is looked at by whoever watches for signals.
        _ = poll(&ends, nfds_t(ends.count), milliseconds)
        return ends.dropFirst().filter { $0.revents != 0 }.map(\.fd)
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&end, 1, 0) > 0
    }

    // MARK: Exchanges

    private func get<Document: Decodable>(_ path: String) throws(Failure) -> Document {
        try decode(exchange("GET", path))
    }

    private func post<Document: Decodable>(_ path: String, _ value: some Encodable) throws(Failure) -> Document {
        guard let body = try? JSONEncoder().encode(value) else {
            preconditionFailure("a document has a value that JSON cannot hold")
        }
        return try decode(exchange("POST", path, body: body))
    }

    private func decode<Document: Decodable>(_ body: Data) throws(Failure) -> Document {
        do {
            return try JSONDecoder().decode(Document.self, from: body)
        } catch {
            throw .refused(
                Refusal(
                    code: "otherVersion", sentence: "The running service is of another version of bgrun.",
                    fix: "bgrun service stop ends it when its jobs have ended; the next command starts the new one."))
        }
    }

    private func connect() throws(Failure) -> ServiceConnection {
        let connection: ServiceConnection?
        do throws(ServiceFailure) {
            connection = try ServiceConnection(to: place.socket)
        } catch {
            throw .unreachable(error)
        }
        guard let connection else { throw .absent }
        return connection
    }

    private func exchange(_ method: String, _ path: String, body: Data? = nil) throws(Failure) -> Data {
        let connection = try connect()
        do throws(ServiceFailure) {
            try connection.send(method, path, body: method == "POST" ? body ?? Data() : nil)
        } catch {
            throw Self.isEnd(error) ? .absent : .unreachable(error)
        }
        var reply = HTTPReply()
        var content = Data()
        while !reply.hasEnded {
            let bytes = try received(connection)
            content += reply.take(bytes)
            if bytes.isEmpty { break }
        }
        // It ended, or was killed, before it had answered.
        guard let status = reply.status, reply.isWhole else { throw .absent }
        guard status < 300 else { throw Self.refusal(content, status) }
        return content
    }

    /// The service ended after its socket had taken the connection.
    private static func isEnd(_ failure: ServiceFailure) -> Bool { [EPIPE, ECONNRESET].contains(failure.status) }

    private func received(_ connection: borrowing ServiceConnection) throws(Failure) -> Data {
        do throws(ServiceFailure) {
            return try connection.receive()
        } catch {
            throw .unreachable(error)
        }
    }

    private static func refusal(_ body: Data, _ status: Int) -> Failure {
        if let refusal = try? JSONDecoder().decode(Refusal.self, from: body) { return .refused(refusal) }
        return .refused(
            Refusal(
                code: "http.\(status)", sentence: "The service answered with status \(status).",
                fix: "Look into its log with bgrun doctor."))
    }
}
