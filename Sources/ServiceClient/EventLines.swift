package import Foundation
package import ServiceAPI

/// Takes server-sent events apart as they come (HTML standard, section 9.2.6), as far as the service uses them.
package struct EventLines {
    private var pending = Data()

    package init() {}

    /// - Returns: The events that are complete now.
    package mutating func take(_ bytes: Data) -> [JobEvent] {
        pending += bytes
        var events: [JobEvent] = []
        let end = Data("\n\n".utf8)
        while let range = pending.range(of: end) {
            let block = String(decoding: pending[..<range.lowerBound], as: UTF8.self)
            pending = Data(pending[range.upperBound...])
            let data = block.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { $0.dropFirst(6) }
            // One of a later version that this client does not know is passed over.
            if let event = try? JSONDecoder().decode(JobEvent.self, from: Data(data.joined(separator: "\n").utf8)) {
                events.append(event)
            }
        }
        return events
    }
}
