import Foundation
import ServiceAPI
import ServiceClient
import Testing

/// The small client takes replies apart however they come.
@Suite struct HTTPReplyTests {
    /// The body of a reply that comes in pieces of that many bytes.
    private func body(of text: String, pieces: Int) -> (status: Int?, body: String) {
        var reply = HTTPReply()
        var body = Data()
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            body += reply.take(Data(bytes[start..<min(start + pieces, bytes.count)]))
        }
        return (reply.status, String(decoding: body, as: UTF8.self))
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func aWholeBodyIsTaken(pieces: Int) {
        let (status, text) = body(of: "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello", pieces: pieces)
        #expect(status == 404 && text == "hello")
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func aBodyInChunksIsTaken(pieces: Int) {
        let (status, text) = body(
            of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
            pieces: pieces)
        #expect(status == 200 && text == "abcd0123456789")
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
    ])
    func whatBreaksOffIsNotWhole(text: String) {
        let bytes = Data(text.utf8)
        for count in 0...bytes.count {
            var reply = HTTPReply()
            _ = reply.take(bytes.prefix(count))
            // The last chunk's line tells the end, not the empty one behind it.
            #expect(reply.isWhole == (count >= bytes.count - (text.contains("chunked") ? 2 : 0)), "\(count) bytes")
            #expect(reply.hasEnded == reply.isWhole, "nobody has to wait for the connection's end")
        }
    }

    @Test func aReplyWithoutALengthIsWholeWhenItsConnectionEnds() {
        var reply = HTTPReply()
        _ = reply.take(Data("HTTP/1.1 200 OK\r\n\r\nhel".utf8))
        #expect(reply.isWhole && !reply.hasEnded)
    }

    @Test func whiteSpaceAroundALengthIsLeftOut() {
        var reply = HTTPReply()
        let text = reply.take(Data("HTTP/1.1 200 OK\r\nServer:\r\nCONTENT-LENGTH:\t 5 \r\n\r\nhello".utf8))
        #expect(String(decoding: text, as: UTF8.self) == "hello" && reply.hasEnded)
    }

    @Test(arguments: [1, 5, 1000])
    func eventsAreTakenApart(pieces: Int) throws {
        let text = """
            id: 1\nevent: note\ndata: {"id":1,"kind":"note","text":"a"}\n\nid: 2\nevent: new\ndata: {"kind":"new"}\n
            id: 3\nevent: ended\ndata: {"id":3,"kind":"ended"}\n\n
            """
        var lines = EventLines()
        var events: [JobEvent] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            events += lines.take(Data(bytes[start..<min(start + pieces, bytes.count)]))
        }
        #expect(events.map(\.id) == [1, 3], "an event of a later version is passed over")
        #expect(events.first?.text == "a")
    }
}
