import Foundation
import Glibc
import SeededNumbers
import SystemConditions
import TaskModel
import Testing

struct FuzzTests {
    private static let seed: UInt64 = 20_261_121
    private static let rounds = 10_000

    /// What drivers and races leave in a file's place.
    private static let texts = [
        "", "\n", "-ENODEV\n", "N/A\n", "-1\n", "-9223372036854775808\n", "9223372036854775807\n",
        "99999999999999999999999\n",
        "nan\n", "inf\n", "-inf", "0x7f\n", "1e308", "18446744073709551615 kB\n", "\0\0\0\0", "max\n", "Battery\n",
        "critical\n",
        "some avg10=\n", "some avg10=99999999999999999999.9 \n", "0::\n", "0::/../../etc\n", "::::\n",
        "0-9223372036854775807\n",
        "4-2,7\n", " - - - - \n", "drm-engine-gfx: -5 ns\n", "\u{FFFD}\u{1F525}", String(repeating: "9", count: 5000),
        String(repeating: "/a", count: 3000), String(repeating: "x y - z \n", count: 2000),
    ]

    @Test("rule 41: whatever stands in the system's files, or does not, is read without a trap")
    func readers() throws {
        var random = SeededGenerator(seed: Self.seed)
        let fixture = try Fixture(Laptop.files)
        try FileManager.default.createDirectory(
            atPath: "\(fixture.path)/proc/4321/fd", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(fixture.path)/proc/4321/fd/7", withDestinationPath: "/dev/dri/renderD128")
        let files = Laptop.files.keys.sorted()
        let contents = files.map { Array((Laptop.files[$0] ?? "").utf8) }
        let reader = fixture.reader(free: 1 << 30)
        let settings = ConditionSettings(outputFolders: ["/out"], ownProcesses: [4321])
        var meter = GPULoadMeter()
        let whole = reader.read(settings, meter: &meter)
        var kinds = Set<String>()
        var mutations = 0

        for round in 0..<Self.rounds {
            var changed: [Int] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<files.count, using: &random)
                let path = "\(fixture.path)/\(files[index])"
                guard !changed.contains(index) else { continue }
                changed.append(index)
                mutations += 1
                switch Int.random(in: 0..<8, using: &random) {
                case 0: unlink(path)
                case 1:
                    unlink(path)
                    mkdir(path, 0o755)
                case 2:
                    unlink(path)
                    mkfifo(path, 0o600)
                case 3:
                    unlink(path)
                    symlink(path, path)
                case 4, 5:
                    put(Array(Self.texts[Int.random(in: 0..<Self.texts.count, using: &random)].utf8), in: path)
                default: put(mutated(contents[index], &random), in: path)
                }
            }
            let readings = reader.read(settings, meter: &meter)
            check(readings, "seed \(Self.seed), round \(round): \(changed.map { files[$0] })")
            if readings.power.value == nil { kinds.insert("power") }
            if readings.thermal.value != whole.thermal.value { kinds.insert("thermal") }
            if readings.network.value == nil { kinds.insert("network") }
            if readings.availableMemoryBytes.source == "/proc/meminfo" { kinds.insert("groups") }
            for index in changed {
                let path = "\(fixture.path)/\(files[index])"
                if rmdir(path) != 0 { unlink(path) }
                put(contents[index], in: path)
            }
        }
        #expect(mutations >= 20_000)
        // The tree is whole again, and the mutations did reach what they should.
        let last = reader.read(settings, meter: &meter)
        #expect(last.power == whole.power && last.network == whole.network && last.thermal == whole.thermal)
        #expect(kinds == ["power", "thermal", "network", "groups"])
    }

    private func mutated(_ content: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = content
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let place = bytes.isEmpty ? 0 : Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !bytes.isEmpty: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1 where !bytes.isEmpty: bytes.remove(at: place)
            case 2: bytes.insert(UInt8.random(in: 32...126, using: &random), at: place)
            default: bytes.removeLast(bytes.count - place)
            }
        }
        return bytes
    }

    private func put(_ bytes: [UInt8], in path: String) {
        // A file that is made anew need not be written to the disk when it is closed, as one that is cut may.
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return }
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }

    /// Every value that is known is one that can be, and every other has a reason.
    private func check(_ readings: ConditionReadings, _ place: @autoclosure () -> String) {
        let percentages = [
            readings.batteryPercent, readings.cpuPressure, readings.ioPressure, readings.memoryPressure,
            readings.foreignGPULoad,
        ]
        if !percentages.allSatisfy({ ($0.value.map { (0...100).contains($0) } ?? true) && isExplained($0) })
            || !isExplained(readings.power) || !isExplained(readings.thermal) || !isExplained(readings.network)
            || !isExplained(readings.lowPowerMode) || !isExplained(readings.userIdle)
            || !isExplained(readings.availableMemoryBytes) || (readings.availableMemoryBytes.value ?? 0) < 0
        {
            Issue.record("\(place()): \(readings)")
        }
    }

    private func isExplained<Value>(_ reading: Reading<Value>) -> Bool {
        switch reading {
        case .known(_, let source, _): !source.isEmpty
        case .unknown(let reason): !reason.isEmpty && reason != "not read yet"
        }
    }
}
