import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import ServiceAPI
import TaskModel

/// Answers of the service: JSON, and its version in every one.
enum Answer {
    private static let versionHeader = HTTPField.Name("Bgrun-Version")

    static func document(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) -> Response {
        text(JSONDocument.data(value) + Data("\n".utf8), status, "application/json")
    }

    static func text(_ data: Data, _ status: HTTPResponse.Status, _ type: String) -> Response {
        Response(status: status, headers: headers(type), body: .init(byteBuffer: ByteBuffer(bytes: data)))
    }

    static func headers(_ type: String) -> HTTPFields {
        var headers: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        if let versionHeader { headers[versionHeader] = BackgroundService.version }
        return headers
    }

    static func refusal(_ refusal: Refusal, _ status: HTTPResponse.Status? = nil) -> Response {
        document(refusal, status ?? Self.status(of: refusal))
    }

    /// Does what may block away from Swift's own threads, and answers with what comes of it.
    static func of(
        _ status: HTTPResponse.Status = .ok, _ work: @escaping @Sendable () throws(Refusal) -> some Encodable & Sendable
    ) async -> Response {
        do throws(Refusal) {
            return document(try await OwnThreads.block(work).get(), status)
        } catch {
            return refusal(error)
        }
    }

    private static func status(of refusal: Refusal) -> HTTPResponse.Status {
        switch refusal.rejection?.code {
        case .notPermitted: return .forbidden
        case .unavailable: return .serviceUnavailable
        case .tooManyPendingTaskRequests: return .tooManyRequests
        case .immediateRunIneligible: return .conflict
        case nil: break
        }
        switch refusal.code {
        case "noSuchJob", "noLog", "notRunning", "notWaiting", "deviceUnused": return .notFound
        case "jobEnded", "notResumable", "lost": return .conflict
        case "simulationOff": return .forbidden
        case "draining", "busy": return .serviceUnavailable
        case "writeFailed": return .init(code: 507, reasonPhrase: "Insufficient Storage")
        case "damaged", "cannotOpen", "newerVersion": return .internalServerError
        default: return .badRequest
        }
    }
}
