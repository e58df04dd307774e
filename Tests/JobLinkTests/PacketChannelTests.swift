import Glibc
import JobLink
import Testing

@Suite struct PacketChannelTests {
    @Test(arguments: [PacketChannel.Language.json, .compact])
    func messagesArriveAsTheyWere(_ language: PacketChannel.Language) throws {
        let (host, worker) = try #require(PacketChannel.pair(language))
        defer {
            host.closeDescriptor()
            worker.closeDescriptor()
        }
        for message in Message.samples {
            guard case .done = host.send(message) else {
                Issue.record("\(message) was not sent")
                continue
            }
            guard case .message(let received) = worker.receive(Message.self, waiting: true) else {
                Issue.record("\(message) did not arrive")
                continue
            }
            #expect(received == message)
        }
        guard case .nothingYet = worker.receive(Message.self, waiting: false) else {
            Issue.record("there is one more message")
            return
        }
    }

    @Test("rule 73: nobody waits for a process that does not read")
    func aFullChannelRefuses() throws {
        let (host, worker) = try #require(PacketChannel.pair(.compact))
        defer {
            host.closeDescriptor()
            worker.closeDescriptor()
        }
        for _ in 0..<100_000 {
            switch host.send(Message.samples[0], waiting: false) {
            case .done: continue
            case .refused(let status): #expect(status == EAGAIN)
            case .closed: Issue.record("the other side is there")
            }
            return
        }
        Issue.record("it was never full")
    }

    /// A worker may have become anybody's by a hostile picture.
    @Test func damagedPacketsAreMessagesOrEndTheTalk() throws {
        let (host, worker) = try #require(PacketChannel.pair(.compact))
        defer {
            host.closeDescriptor()
            worker.closeDescriptor()
        }
        var endings = 0
        var messages = 0
        func receive(_ packet: [UInt8]) {
            #expect(send(host.descriptor, packet, packet.count, 0) == packet.count)
            switch worker.receive(Message.self, waiting: true) {
            case .message: messages += 1
            case .closed: endings += 1
            case .nothingYet: Issue.record("a packet was lost")
            }
        }
        for message in Message.samples {
            guard case .done = host.send(message) else {
                Issue.record("\(message) was not sent")
                continue
            }
            var packet = [UInt8](repeating: 0, count: 4096)
            packet.removeSubrange(recv(worker.descriptor, &packet, packet.count, 0)...)
            #expect(packet.count > 4)
            for length in 1..<packet.count { receive(Array(packet[..<length])) }
            for place in packet.indices {
                for byte: UInt8 in [0, 1, 0x7f, 0xff] {
                    var damaged = packet
                    damaged[place] = byte
                    receive(damaged)
                }
            }
        }
        #expect(endings > 0 && messages > 0)
    }
}

/// One of each that a coder has to tell apart.
private enum Message: Codable, Equatable {
    enum Word: String, Codable { case yes, no }

    struct Part: Codable, Equatable {
        var name: String?
        var word: Word?
        var counts: [Int]
        var flags: [Bool?]
        var share: Double
    }

    struct Whole: Codable, Equatable {
        /// Named as one of its parts' parts.
        var name: String?
        var part: Part
        var parts: [Part]
        var settings: [String: String]
        var range: Range<Int>
        var duration: Duration
        var small: UInt8
        var large: UInt64
        var single: Float
        var nested: [[String]]
        var further: [Message]
    }

    case nothing
    case number(Int)
    case named(first: Int, second: String?)
    case whole(Whole)

    static var samples: [Message] {
        let empty = Part(name: nil, word: nil, counts: [], flags: [], share: 0)
        let full = Part(
            name: "", word: .no, counts: [.min, -1, 0, .max], flags: [true, nil, false], share: -1.5e-300)
        let whole = Whole(
            name: "a name that is longer than a register, with Ünïcode and \u{0}", part: empty, parts: [full, empty],
            settings: ["": "empty", "key": "", "another": "value"], range: -3..<9, duration: .nanoseconds(-12),
            small: 255, large: .max, single: 0.1, nested: [[], ["a"], ["", "b"]],
            further: [.nothing, .named(first: 1, second: nil)])
        return [
            .nothing, .number(-7), .named(first: 1, second: nil), .named(first: 2, second: ""),
            .whole(whole),
        ]
    }
}
