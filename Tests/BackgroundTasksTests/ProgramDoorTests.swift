import BackgroundTasks
import BackgroundTasksTesting
import Foundation
import Glibc
import ProgramLink
import TaskModel
import TemporaryFolders
import Testing

/// What other processes may ask of a program that runs.
@Suite struct ProgramDoorTests {
    private let folder: TemporaryFolder
    private let place: ProgramPlace
    private var caller: ProgramCaller { ProgramCaller(place) }
    private let program = "org.example.photos"

    init() throws {
        folder = try TemporaryFolder()
        place = ProgramPlace(folder: folder.file("programs"))
    }

    private func opened(_ machine: SimulatedMachine, allowsSimulation: Bool = true) -> SimulatedMachine {
        machine.scheduler.openDoor(in: place, allowsSimulation: allowsSimulation)
        return machine
    }

    private func problem(_ simulation: Simulation) throws -> String? {
        try caller.ask(program, .simulate(simulation)).first?.problem?.code
    }

    @Test(
        "rule 100, A45: a poke of another process is heard at once, and the fourth in an hour is told when it will be")
    func pokes() async throws {
        let machine = opened(try photosMachine())
        let heard = Recorder<[String: String]>()
        let application = BGApplication(scheduler: machine.scheduler, queue: DispatchQueue(label: "main of the test"))
        #expect(try caller.ask(program, .poke([:])).first?.problem?.code == "noPokeHandler")
        application.setRemoteNotificationHandler { payload, completion in
            heard.add(payload)
            completion(.newData)
        }
        for index in 0..<3 {
            #expect(try caller.ask(program, .poke(["last": "\(index)"])) == [ProgramAnswer()])
            await machine.advance(by: .seconds(60))
        }
        #expect(try caller.ask(program, .poke(["last": "a"])) == [ProgramAnswer(delay: 3_420)])
        #expect(try caller.ask(program, .poke(["also": "b"])) == [ProgramAnswer(delay: 3_420)])
        #expect(heard.values == [["last": "0"], ["last": "1"], ["last": "2"]])
        await machine.advance(by: .seconds(3_420))
        #expect(heard.values.last == ["last": "a", "also": "b"] && heard.values.count == 4)
        application.setRemoteNotificationHandler(nil)
        #expect(try caller.ask(program, .poke([:])).first?.problem?.code == "noPokeHandler")
    }

    @Test("rule 99: a waiting task is launched, and a running one expired with a reason of choice, by another process")
    func launchAndExpire() async throws {
        let machine = opened(try photosMachine())
        machine.conditions.change { $0.isIdle = false }
        let reasons = Recorder<BGStopReason?>()
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { task in
            task.expirationHandler = { [weak task] in
                reasons.add(task?.stopReason)
                task?.setTaskCompleted(success: false)
            }
        }
        #expect(try problem(.init(.launch, id("tidy"))) == "notWaiting")
        try machine.scheduler.submit(BGProcessingTaskRequest(identifier: id("tidy")))
        await machine.settle()
        #expect(try problem(.init(.expire, id("tidy"))) == "notRunning")
        #expect(try problem(.init(.launch, id("tidy"))) == nil)
        await machine.settle()
        #expect(machine.scheduler.jobs().map(\.state) == [.running])
        #expect(try problem(.init(.expire, id("tidy"), reason: .conditionLost(.network))) == nil)
        await machine.settle()
        #expect(reasons.values == [.conditionLost(.network)])
    }

    @Test("rule 99: a condition is lost and met whatever is measured, until it is measured again")
    func conditions() async throws {
        let machine = opened(try photosMachine())
        machine.scheduler.register(forTaskWithIdentifier: id("tidy"), using: nil) { _ in }
        let request = BGProcessingTaskRequest(identifier: id("tidy"))
        request.requiresExternalPower = true
        #expect(try problem(.init(.lose, "externalPower")) == nil)
        try machine.scheduler.submit(request)
        await machine.settle()
        #expect(machine.scheduler.why(id("tidy")).map(\.code) == ["condition.externalPower"])
        // What is measured meanwhile changes nothing.
        machine.conditions.change { $0.power = .external }
        await machine.advance(by: .seconds(120))
        #expect(machine.scheduler.why(id("tidy")).map(\.code) == ["condition.externalPower"])
        #expect(try problem(.init(.measure, "externalPower")) == nil)
        await machine.advance(by: .seconds(120))
        #expect(machine.scheduler.jobs().map(\.state) == [.running])
        #expect(try problem(.init(.lose, "allowedHours")) == nil)
        await machine.settle()
        #expect(machine.scheduler.jobs().map(\.outcome) == [.stopped(.conditionLost(.allowedHours))])
        #expect(try problem(.init(.lose, "weather")) == "unknownCondition")
        #expect(try problem(.init(.unplug, "gpu7")) == "deviceUnused")
        #expect(try problem(.init(.crash, id("tidy"))) == "noProcess")
    }

    @Test("rule 99: nothing is simulated where the program does not allow it")
    func off() throws {
        let machine = opened(try photosMachine(), allowsSimulation: false)
        #expect(try problem(.init(.lose, "network")) == "simulationOff")
        withExtendedLifetime(machine) {}
    }

    @Test("A program that is gone is told so, its socket is cleaned away, and another one is named")
    func gone() throws {
        let machine = opened(try photosMachine())
        let folder = place.folder + "/org.example.gone"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        chmod(folder, 0o700)
        // As a process leaves it that is killed.
        let left = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array((folder + "/1-a").utf8)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(left, $0, length) }
        }
        #expect(status == 0)
        close(left)
        let error = #expect(throws: Diagnostic.self) { try caller.ask("org.example.gone", .poke([:])) }
        #expect(error?.code == "programNotRunning" && error?.fix.contains(program) == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        withExtendedLifetime(machine) {}
    }

    @Test("A folder that others may enter is not trusted")
    func openFolder() throws {
        let machine = opened(try photosMachine())
        chmod(place.folder + "/" + program, 0o777)
        let error = #expect(throws: Diagnostic.self) { try caller.ask(program, .poke([:])) }
        #expect(error?.code == "programFolder")
        withExtendedLifetime(machine) {}
    }

    @Test("rule 99: the scheduler of a process that is started for a test can be told what happens")
    func ofAProcess() async {
        await #expect(processExitsWith: .success) {
            let runtime = try TemporaryFolder()
            chmod(runtime.path, 0o700)
            setenv("XDG_RUNTIME_DIR", runtime.path, 1)
            setenv(Simulation.variable, "1", 1)
            let name = "org.example.photos"
            let (poked, poke) = AsyncStream.makeStream(of: Void.self)
            // Before the manifest is known.
            let application = BGApplication(scheduler: .shared, queue: DispatchQueue(label: "main of the test"))
            application.setRemoteNotificationHandler { _, completion in
                poke.finish()
                completion(.newData)
            }
            try BGTaskScheduler.configure(
                program: name, modes: [.processing], permittedIdentifiers: ["\(name).tidy"])
            let (launched, continuation) = AsyncStream.makeStream(of: Void.self)
            BGTaskScheduler.shared.register("\(name).tidy", for: BGProcessingTask.self) { _ in continuation.finish() }
            let caller = ProgramCaller(ProgramPlace(folder: runtime.file("bgrun-programs")))
            _ = try caller.ask(name, .simulate(.init(.lose, "network")))
            let request = BGProcessingTaskRequest(identifier: "\(name).tidy")
            request.requiresNetworkConnectivity = true
            try BGTaskScheduler.shared.submit(request)
            guard BGTaskScheduler.shared.why("\(name).tidy").contains(where: { $0.code == "condition.network" }),
                try caller.ask(name, .simulate(.init(.launch, "\(name).tidy"))).first?.problem == nil
            else { exit(1) }
            for await _ in launched {}
            _ = try caller.ask(name, .poke([:]))
            for await _ in poked {}
            try? FileManager.default.removeItem(at: runtime.url)
            exit(0)
        }
    }
}
