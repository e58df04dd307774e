import Dispatch
import Foundation
import Glibc
import JobLink
package import TaskModel

/// Where a program that runs can be asked something by other processes of its user.
///
/// `@unchecked Sendable` is true because nothing of it changes once it is made, and a source may be cancelled anywhere.
package final class ProgramDoor: @unchecked Sendable {
    private let queue = DispatchQueue(label: "bgrun.door")
    private let folder: Int32
    private let name: String
    private let socket: Int32
    private let source: any DispatchSourceRead

    /// - Parameters:
    ///   - place: Where those who ask look.
    ///   - program: Its name.
    ///   - answer: Is called for one question after the other.
    /// - Throws: Why it cannot be asked anything.
    package init(
        _ place: ProgramPlace, program: String, answer: @escaping @Sendable (ProgramRequest) -> ProgramAnswer
    ) throws(Diagnostic) {
        folder = try place.makeFolder(of: program)
        name = "\(getpid())-" + String(UInt32.random(in: .min ... .max), radix: 16)
        guard let socket = ProgramSocket.listen(name, in: folder) else {
            let reason = String(cString: strerror(errno))
            close(folder)
            throw Diagnostic(
                code: "programSocket", sentence: "No socket can be made in \(place.folder): \(reason).",
                fix: "Set XDG_RUNTIME_DIR to a folder of your own.")
        }
        self.socket = socket
        source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
        source.setEventHandler {
            while let descriptor = ProgramSocket.accept(socket) {
                let channel = PacketChannel(descriptor: descriptor)
                if case .message(let request) = channel.receive(ProgramRequest.self, waiting: true) {
                    _ = channel.send(answer(request))
                }
                channel.closeDescriptor()
            }
        }
        let (folder, name) = (folder, name)
        source.setCancelHandler {
            close(socket)
            unlinkat(folder, name, 0)
            close(folder)
        }
        source.activate()
    }

    deinit { source.cancel() }
}
