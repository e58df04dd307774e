import Foundation
import Glibc
import SystemConditions
import TaskModel
import Testing

struct IdleTests {
    @Test("rule 49: no graphical session counts as idle")
    func headless() throws {
        let idle = try Fixture(["dev/pts/0": "", "run/user/1000/bus": ""]).read().userIdle
        #expect(idle == .known(true, source: "/tmp/.X11-unix, /run/user", note: "no graphical session"))
    }

    @Test(
        "rule 49: without logind the newest input of any terminal or device decides",
        arguments: [(299, false), (300, true), (-50, false)])
    func inputAge(age: Int, isIdle: Bool) throws {
        let fixture = try Fixture([
            "run/user/1000/wayland-0": "", "dev/pts/0": "", "dev/pts/ptmx": "", "dev/tty1": "", "dev/input/event3": "",
        ])
        let now = 1_000_000
        // The terminal's multiplexer is no terminal.
        for (name, time) in [("pts/0", 10), ("pts/ptmx", now), ("tty1", now - age), ("input/event3", 20)] {
            let times = [timeval(tv_sec: time, tv_usec: 0), timeval(tv_sec: time, tv_usec: 0)]
            try #require(utimes("\(fixture.path)/dev/\(name)", times) == 0)
        }
        let idle = fixture.read(now: .seconds(now)).userIdle
        #expect(idle.value == isIdle)
        #expect(idle.source == "/dev/tty1")
    }

    @Test("rule 41, rule 49: a graphical session without any input to look at is unknown, not idle")
    func nothingToLookAt() throws {
        let idle = try Fixture(["tmp/.X11-unix/X0": ""]).read().userIdle
        #expect(idle.unknownBecause?.hasSuffix("and no terminal or input device tells") == true)
    }
}

struct LowPowerTests {
    @Test("rule 44: the person's setting and switch come before the platform's profile")
    func order() throws {
        let fixture = try Fixture(["sys/firmware/acpi/platform_profile": "low-power\n", "switch": "off\n"])
        let file = "\(fixture.path)/switch"
        #expect(fixture.read().lowPowerMode.value == true)
        #expect(fixture.read(ConditionSettings(lowPowerSwitch: file)).lowPowerMode == .known(false, source: file))
        let both = ConditionSettings(lowPowerMode: true, lowPowerSwitch: file)
        #expect(fixture.read(both).lowPowerMode == .known(true, source: "setting"))
        try fixture.write("perhaps", to: "switch")
        #expect(fixture.read(ConditionSettings(lowPowerSwitch: file)).lowPowerMode.value == true)
    }

    @Test(
        "rule 44: the lowest profile of the platform is low power mode",
        arguments: [
            ("low-power", "low-power balanced performance", true), ("quiet", "quiet balanced performance", true),
            ("quiet", "low-power quiet balanced", false), ("balanced", "low-power balanced", false),
            ("performance", "", false),
        ])
    func profiles(profile: String, choices: String, isLow: Bool) throws {
        let fixture = try Fixture([
            "sys/firmware/acpi/platform_profile": profile, "sys/firmware/acpi/platform_profile_choices": choices,
        ])
        #expect(fixture.read().lowPowerMode.value == isLow)
    }

    @Test("rule 41, rule 44: a profile of no known meaning, and no bus to ask, is unknown")
    func unknown() throws {
        for text in ["custom", "", "-ENODEV"] {
            let mode = try Fixture(["sys/firmware/acpi/platform_profile": text]).read().lowPowerMode
            #expect(mode.unknownBecause?.hasPrefix("no platform profile; no system bus at unix:path=") == true)
        }
    }
}
