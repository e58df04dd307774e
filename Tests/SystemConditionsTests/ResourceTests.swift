import Dispatch
import Foundation
import Locking
import SystemConditions
import TaskModel
import Testing

struct ResourceTests {
    @Test("rule 46: pressure is the share of the last ten seconds in which some task waited")
    func pressure() throws {
        let readings = try Fixture(Laptop.files).read()
        #expect(readings.cpuPressure == .known(2.66, source: "/proc/pressure/cpu"))
        #expect(readings.ioPressure == .known(12.5, source: "/proc/pressure/io"))
        #expect(readings.memoryPressure == .known(0, source: "/proc/pressure/memory"))
    }

    @Test("rule 46: without pressure information the load average tells how many tasks wait")
    func loadAverage() throws {
        let fixture = try Fixture([
            "proc/loadavg": "8.00 1.00 1.00 1/1 1\n", "sys/devices/system/cpu/online": "0,2-3\n",
        ])
        #expect(fixture.read().cpuPressure.value == 62.5)
        #expect(fixture.read().cpuPressure.source == "/proc/loadavg")
        try fixture.write("0.40 1.00 1.00 1/1 1\n", to: "proc/loadavg")
        #expect(fixture.read().cpuPressure.value == 0)
        #expect(fixture.read().ioPressure.unknownBecause == "/proc/pressure/io does not exist")
    }

    @Test(
        "rule 41, rule 46: text that is no pressure is unknown",
        arguments: [
            "", "some", "some avg10=", "some avg10=-1.00", "some avg10=inf", "full avg10=3.00", "some avg10=1000.0",
        ])
    func noPressure(text: String) throws {
        let reading = try Fixture(["proc/pressure/memory": text]).read().memoryPressure
        #expect(reading.unknownBecause == "/proc/pressure/memory holds no pressure")
    }

    @Test("rule 47: available memory is the least of the machine's and that of each control group on the path")
    func controlGroups() throws {
        let fixture = try Fixture(Laptop.files)
        // 2000 MB high - 1500 MB used + 400 MB that only cache files.
        #expect(
            fixture.read().availableMemoryBytes
                == .known(
                    900_000_000, source: "/sys/fs/cgroup/user.slice/job.service", note: "left in this control group"))
        try fixture.write("5100000000\n", to: "sys/fs/cgroup/user.slice/memory.high")
        #expect(fixture.read().availableMemoryBytes.value == 100_000_000)
        try fixture.write("0::/\n", to: "proc/self/cgroup")
        #expect(fixture.read().availableMemoryBytes == .known(8_192_000_000, source: "/proc/meminfo"))
    }

    @Test("rule 47: a group that is over its limit has nothing left")
    func overLimit() throws {
        let fixture = try Fixture(Laptop.files)
        try fixture.write("3500000000\n", to: "sys/fs/cgroup/user.slice/job.service/memory.current")
        #expect(fixture.read().availableMemoryBytes.value == 0)
    }

    @Test("rule 47: groups of version 1 count as well, and inside a container only those that are mounted")
    func version1() throws {
        let fixture = try Fixture([
            "proc/meminfo": "MemAvailable: 8000000 kB\n",
            "proc/self/cgroup": "5:devices:/\n4:cpuacct,memory:/docker/abc/job\n",
            "proc/self/mountinfo":
                "35 31 0:32 /docker/abc /sys/fs/cgroup/my\\040memory rw - cgroup cgroup rw,cpuacct,memory\n",
            "sys/fs/cgroup/my memory/memory.limit_in_bytes": "9223372036854771712",
            "sys/fs/cgroup/my memory/memory.usage_in_bytes": "700000000",
            "sys/fs/cgroup/my memory/job/memory.limit_in_bytes": "1000000000",
            "sys/fs/cgroup/my memory/job/memory.usage_in_bytes": "700000000",
            "sys/fs/cgroup/my memory/job/memory.stat": "inactive_file 1\ntotal_inactive_file 50000000\n",
        ])
        #expect(fixture.read().availableMemoryBytes.value == 350_000_000)
    }

    @Test(
        "rule 41, rule 47: a memory table that cannot be is unknown",
        arguments: [
            "", "MemFree: 3 kB", "MemAvailable:", "MemAvailable: -5 kB", "MemAvailable: 9223372036854775807 kB",
        ])
    func noMemory(text: String) throws {
        let reading = try Fixture(["proc/meminfo": text]).read().availableMemoryBytes
        #expect(reading.unknownBecause == "/proc/meminfo tells no MemAvailable")
    }

    @Test(
        "rule 50, rule 41: a volume that does not answer is unknown, and is not asked again before it has",
        .timeLimit(.minutes(15)))
    func deadVolume() {
        let (asked, goOn) = (Lock(0), DispatchSemaphore(value: 0))
        let questions = VolumeQuestions(deadline: .milliseconds(20)) { folder in
            guard folder == "/dead" else { return 7 }
            asked.withLock { $0 += 1 }
            goOn.wait()
            // From then on it answers everybody.
            goOn.signal()
            return 5
        }
        for _ in 0..<3 { #expect(questions.freeBytes("/dead") == nil) }
        #expect(asked.withLock(\.self) <= 1, "one thread waits for it")
        goOn.signal()
        var answer: Int?
        while answer == nil { answer = questions.freeBytes("/dead") }
        #expect(answer == 5)
    }

    @Test("rule 50: volumes that answer are told of, one as well as many at once")
    func liveVolumes() {
        let questions = VolumeQuestions(deadline: .seconds(60)) { Int($0) }
        DispatchQueue.concurrentPerform(iterations: 16) { index in
            #expect(questions.freeBytes("\(index % 4)") == index % 4)
        }
        #expect(questions.freeBytes("/gone") == nil)
    }

    @Test("rule 50: of several output folders the volume with least room counts")
    func volumes() throws {
        let rooms = ["/a": 5_000, "/b": 3_000]
        let fixture = try Fixture()
        let reader = ConditionsReader(
            root: fixture.root, bus: .standard(root: fixture.root, environment: [:]), freeBytes: { rooms[$0] })
        var meter = GPULoadMeter()
        func read(_ folders: [String]) -> Reading<Int> {
            reader.read(ConditionSettings(outputFolders: folders), meter: &meter).freeDiskBytes
        }
        #expect(read(["/a", "/b", "/gone"]) == .known(3_000, source: "/b"))
        #expect(read(["/gone"]).unknownBecause == "the volume of /gone does not tell its room")
        #expect(read([]).unknownBecause == "no output folder is known")
    }

    @Test("rule 50: a folder that is yet to be made has the room of its nearest parent")
    func folderToBeMade() throws {
        let fixture = try Fixture()
        let room = VolumeReader.fileSystem(fixture.path)
        #expect(room != nil)
        #expect(VolumeReader.fileSystem("\(fixture.path)/not/yet//there/") != nil)
        #expect(VolumeReader.fileSystem("not-there-either") != nil)
    }
}
