import Foundation
import Glibc
import TaskModel
import Testing
import WorkerPriority

@Suite struct WorkerPriorityTests {
    private let fixture: PriorityFixture

    init() throws {
        fixture = try PriorityFixture()
    }

    private func priority(unit: String? = nil) -> WorkerPriority {
        WorkerPriority(process: fixture.process, unit: unit, system: fixture.system)
    }

    /// The kernel's file keeps the name that the text written does not have: what is read back is not what was asked for.
    @Test func anAutogroupThatDoesNotFollowIsNotReported() {
        var job = priority()
        #expect(job.apply(.background) == .applied(.pacing))
        #expect(fixture.text("proc/77/autogroup")?.hasPrefix("19") == true, "it was tried")
        #expect(job.tier == .pacing)
    }

    @Test("rule 90: an autogroup at the wanted weight is in force") func anAutogroupAtTheWantedWeightIsInForce() throws
    {
        var job = priority()
        try fixture.put("/autogroup-2 nice 19\n", "proc/77/autogroup")
        #expect(job.apply(.background) == .applied(.autogroup))
        #expect(job.tier == .autogroup)
        #expect(fixture.text("proc/77/oom_score_adj")?.hasPrefix("200") == true)
    }

    @Test(arguments: [
        ("proc/sys/kernel/sched_autogroup_enabled", "0\n"), ("proc/77/autogroup", "/autogroup-1 nice 0\n"),
        ("proc/77/cgroup", "1:cpu,cpuacct:/group\n0::/\n"), ("cgroup/cpu.weight", "100\n"),
        ("proc/77/autogroup", ""),
    ])
    func anAutogroupThatWouldDoNothingOrHitTheSchedulerIsLeftAlone(file: (path: String, text: String)) throws {
        try fixture.put(file.text, file.path)
        let before = fixture.text("proc/77/autogroup")
        var job = priority()
        #expect(job.apply(.background) == .applied(.pacing))
        #expect(fixture.text("proc/77/autogroup") == before)
    }

    @Test func aGroupBelowOneWithAWeightIsNotAtTheRoot() throws {
        try fixture.put("0::/a/b\n", "proc/77/cgroup")
        try fixture.put("100\n", "cgroup/a/cpu.weight")
        try fixture.put("/autogroup-2 nice 19\n", "proc/77/autogroup")
        var job = priority()
        #expect(job.apply(.background) == .applied(.pacing))
    }

    @Test("rule 90: a unit of the user manager is raised and lowered live, and read back")
    func aUnitIsRaisedAndLoweredLive() throws {
        try fixture.putManager(
            set: """
                case "$*" in *CPUWeight=idle) echo 1 > $unit/cpu.idle;; *) echo 0 > $unit/cpu.idle;; esac
                """)
        var job = priority(unit: "bgrun-job-3")
        #expect(job.apply(.background) == .applied(.userManager))
        #expect(fixture.text("asked") == nil, "it was started so")
        #expect(job.apply(.foreground) == .applied(.userManager))
        #expect(fixture.text(PriorityFixture.unitFolder + "/cpu.idle") == "0\n")
        #expect(
            fixture.text("asked")
                == "--user --no-ask-password set-property --runtime bgrun-job-3.scope CPUWeight=100\n")
        #expect(job.apply(.background) == .applied(.userManager))
        #expect(job.tier == .userManager)
    }

    @Test func aManagerThatAnswersYesAndDoesNothingIsGivenUp() throws {
        try fixture.putManager(set: "exit 0")
        var job = priority(unit: "bgrun-job-3")
        var outcome = job.apply(.foreground)
        var rounds = 0
        while case .retry(let time) = outcome, rounds < 100 {
            #expect(time <= .milliseconds(100))
            rounds += 1
            outcome = job.apply(.foreground)
        }
        #expect(outcome == .applied(.pacing))
        #expect(rounds > 2 && rounds < 20)
        #expect(fixture.text("asked")?.split(separator: "\n").count == 1, "asked once, read often")
    }

    @Test func aUnitThatIsStillBeingMadeIsWaitedFor() throws {
        try fixture.putManager(set: "exit 1")
        let place = try #require(fixture.text("proc/77/cgroup"))
        try fixture.put("0::/elsewhere\n", "proc/77/cgroup")
        var job = priority(unit: "bgrun-job-3")
        guard case .retry = job.apply(.background) else {
            Issue.record("it did not wait")
            return
        }
        try fixture.put(place, "proc/77/cgroup")
        #expect(job.apply(.background) == .applied(.userManager))
    }

    @Test("rule 90: a unit that takes seconds to be made is waited for, and has what was wanted meanwhile")
    func aUnitThatTakesLongIsWaitedFor() throws {
        try fixture.putManager(set: "echo 0 > $unit/cpu.idle")
        let place = try #require(fixture.text("proc/77/cgroup"))
        try fixture.put("0::/elsewhere\n", "proc/77/cgroup")
        try fixture.put("systemd-run\n", "proc/77/comm")
        var job = priority(unit: "bgrun-job-3")
        for round in 0..<50 {
            guard case .retry(let time) = job.apply(round < 30 ? .background : .foreground) else {
                Issue.record("it was given up")
                return
            }
            #expect(time <= .milliseconds(200))
        }
        try fixture.put(place, "proc/77/cgroup")
        try fixture.put("bgrun\n", "proc/77/comm")
        #expect(job.apply(.foreground) == .applied(.userManager))
        #expect(fixture.text(PriorityFixture.unitFolder + "/cpu.idle") == "0\n")
    }

    @Test("rule 90: what was given up is tried again when something else is wanted")
    func aManagerThatWasGivenUpIsAskedAgain() throws {
        try fixture.putManager(set: "exit 0")
        var job = priority(unit: "bgrun-job-3")
        while case .retry = job.apply(.foreground) {}
        #expect(job.tier == .pacing)
        #expect(job.apply(.background) == .applied(.userManager), "it has that weight")
        try fixture.putManager(set: "echo 0 > $unit/cpu.idle")
        #expect(job.apply(.foreground) == .applied(.userManager))
    }

    @Test func aJobFromWhereThereIsNoManagerIsToldOfIt() throws {
        try fixture.putManager(set: "exit 0")
        func unit(_ environment: inout [String: String]) -> String? {
            WorkerPriority.launch(
                ["a"], environment: &environment, unit: "u", priority: .background, system: fixture.system
            ).unit
        }
        var bare = ["PATH": "/bin"]
        #expect(unit(&bare) == "u")
        #expect(bare == ["PATH": "/bin", "XDG_RUNTIME_DIR": fixture.folder + "/run"])
        var other = ["XDG_RUNTIME_DIR": "/elsewhere"]
        #expect(unit(&other) == nil, "systemd-run would ask another manager, or none")
        #expect(other == ["XDG_RUNTIME_DIR": "/elsewhere"])
    }

    @Test func aJobIsLaunchedAsAUnitWhereThereIsAManager() throws {
        var environment: [String: String] = [:]
        let plain = WorkerPriority.launch(
            ["/bin/bgrun", "export"], environment: &environment, unit: "bgrun-job-3", priority: .background,
            system: fixture.system)
        #expect(plain.command == ["/bin/bgrun", "export"] && plain.unit == nil && environment.isEmpty)
        try fixture.putManager(set: "exit 0")
        let unit = WorkerPriority.launch(
            ["/bin/bgrun", "export"], environment: &environment, unit: "bgrun-job-3", priority: .background,
            system: fixture.system)
        #expect(unit.unit == "bgrun-job-3")
        #expect(unit.command.first == fixture.folder + "/bin/systemd-run")
        #expect(unit.command.contains("CPUWeight=idle") && unit.command.contains("--scope"))
        #expect(unit.command.contains("--slice=-.slice"), "it is weighed against everything of the manager")
        #expect(unit.command.suffix(3) == ["--", "/bin/bgrun", "export"])
        #expect(WorkerPriority.expectedTier(system: fixture.system) == .userManager)
    }

    @Test func aManagerWithoutTheCPUControllerIsNoManager() throws {
        try fixture.putManager(set: "exit 0")
        try fixture.put(
            "memory pids\n", "cgroup/user.slice/user-1000.slice/user@1000.service/cgroup.controllers")
        var environment: [String: String] = [:]
        let launch = WorkerPriority.launch(
            ["a"], environment: &environment, unit: "u", priority: .foreground, system: fixture.system)
        #expect(launch.unit == nil)
    }

    @Test func processorsOfAUnitAreCountedAndLimited() throws {
        try fixture.putManager(set: "exit 0")
        try fixture.put("usage_usec 1500000\nuser_usec 9\n", PriorityFixture.unitFolder + "/cpu.stat")
        try fixture.put("max 100000\n", PriorityFixture.unitFolder + "/cpu.max")
        var job = priority(unit: "bgrun-job-3")
        #expect(job.processors == nil, "nothing was read back yet")
        _ = job.apply(.background)
        let processors = try #require(job.processors)
        #expect(processors.used == .milliseconds(1500))
        #expect(processors.limit(to: nil))
        #expect(processors.limit(to: 0.005))
        #expect(fixture.text(PriorityFixture.unitFolder + "/cpu.max") == "1000 200000", "the kernel's least share")
        #expect(processors.limit(to: 0.5))
        #expect(fixture.text(PriorityFixture.unitFolder + "/cpu.max") == "50000 100000")
        // A file keeps what is longer than the text, as the kernel's would keep a value that it does not take.
        #expect(!processors.limit(to: 0.02))
        try FileManager.default.removeItem(atPath: fixture.folder + "/" + PriorityFixture.unitFolder)
        #expect(processors.used == nil)
        #expect(!processors.limit(to: 1))
    }

    @Test func processorsOfAMachineAreCounted() throws {
        #expect(MachineProcessors(system: fixture.system) == nil)
        try fixture.put("cpu  1 2 3 400 5 6 7 8 9 10\ncpu0 1\ncpu1 1\ncpu2 1\nintr 1 cpu\n", "proc/stat")
        let machine = try #require(MachineProcessors(system: fixture.system))
        #expect(machine.count == 3)
        #expect(machine.idle == .milliseconds(4130))
        try fixture.put("cpu  1 2\ncpu0 1\n", "proc/stat")
        #expect(MachineProcessors(system: fixture.system) == nil)
        #expect(MachineProcessors() != nil, "this machine's")
    }

    @Test(
        "rule 90: a real session is lowered and raised again where the kernel has autogroups",
        .enabled(if: WorkerPriority.expectedTier() == .autogroup))
    func aRealSessionIsLoweredAndRaised() throws {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // POSIX_SPAWN_SETSID (glibc's spawn.h), which Swift does not import.
        posix_spawnattr_setflags(&attributes, 0x80)
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("600"), nil]
        defer { words.forEach { free($0) } }
        var process = pid_t()
        try #require(posix_spawn(&process, "/bin/sleep", nil, &attributes, words, environ) == 0)
        defer {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        var job = WorkerPriority(process: process, unit: nil)
        for priority in [RunTerms.Priority.background, .foreground, .background] {
            var outcome = job.apply(priority)
            var tries = 0
            while case .retry(let time) = outcome, tries < 200 {
                usleep(UInt32(time / .microseconds(1)))
                tries += 1
                outcome = job.apply(priority)
            }
            #expect(outcome == .applied(.autogroup))
            // SCHED_BATCH (linux/sched.h), which Swift does not import.
            #expect(sched_getscheduler(process) == (priority == .background ? 3 : SCHED_OTHER))
        }
    }
}
