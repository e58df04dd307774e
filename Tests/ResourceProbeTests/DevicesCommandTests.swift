import Foundation
import Glibc
import Testing

/// `bgrun devices` as a person or a script runs it.
@Suite struct DevicesCommandTests {
    private struct Document: Decodable {
        struct CPU: Decodable {
            var cores: Int
            var instructionSet: String
        }
        struct Driver: Decodable {
            var library: String
            var platforms: [Platform]
        }
        struct Platform: Decodable {
            var name: String
            var devices: [Device]
        }
        struct Device: Decodable {
            struct Info: Decodable {
                var identity: String
                var type: String
                var globalMemoryBytes: Int
                var maxAllocationBytes: Int
                var maxWorkGroupSize: Int
            }
            var info: Info
            var health: String
            var countsAsGPU: Bool
        }
        struct Cause: Decodable {
            var code: String
            var sentence: String
            var fix: String
        }
        var version: Int
        var cpu: CPU
        var drivers: [Driver]
        var gpuSupported: Bool
        var whyNoGPU: [Cause]
        var cpuDevicesCountAsGPU: Bool
    }

    private let patience = ["BGRUN_PROBE_DEADLINE": "60"]

    private func devices(_ environment: [String: String]) throws -> Document {
        let output = try Fixture.run(
            Fixture.bgrun(), ["devices", "--json"], environment.merging(patience) { $1 })
        #expect(output.status == 0, "\(output.errors)")
        return try JSONDecoder().decode(Document.self, from: Data(output.text.utf8))
    }

    @Test func theJSONNamesTheCPULaneAndEachDeviceWithItsHealth() throws {
        let document = try devices(["OCL_ICD_VENDORS": "/etc/OpenCL/vendors/pocl.icd"])
        #expect(document.version == 1)
        #expect(document.cpu.cores >= 1)
        #expect(["baseline", "avx2", "avx512", "neon"].contains(document.cpu.instructionSet))
        let device = try #require(document.drivers.first?.platforms.first?.devices.first, "PoCL is missing")
        #expect(device.health == "healthy")
        #expect(device.info.type == "cpu" && device.info.identity.contains(":cpu:"))
        #expect(device.info.globalMemoryBytes > 0 && device.info.maxAllocationBytes > 0)
        #expect(device.info.maxWorkGroupSize > 0)
        #expect(!document.gpuSupported && !device.countsAsGPU && !document.cpuDevicesCountAsGPU)
        #expect(document.whyNoGPU.map(\.code) == ["onlyCPUDevices"])
        #expect(document.whyNoGPU.allSatisfy { $0.sentence.hasSuffix(".") && !$0.fix.isEmpty })
    }

    @Test("rule 32: the test option is said in both forms of the list")
    func theTestOptionIsSaidInBothForms() throws {
        let option = ["OCL_ICD_VENDORS": "/etc/OpenCL/vendors/pocl.icd", "BGRUN_TEST_CPU_AS_GPU": "1"]
        let document = try devices(option)
        #expect(document.gpuSupported && document.cpuDevicesCountAsGPU)
        let listing = try Fixture.run(Fixture.bgrun(), ["devices"], option.merging(patience) { $1 })
        #expect(listing.text.contains("TEST OPTION: CPU devices count as GPUs"))
        #expect(listing.text.contains("usable with --gpu"))
    }

    @Test func theListingNamesARejectedDriverWithItsReasonAndWhatHelps() throws {
        let folder = "\(try Fixture.drivers())/crashes-in-platforms"
        let listing = try Fixture.run(
            Fixture.bgrun(), ["devices"], ["OCL_ICD_VENDORS": folder].merging(patience) { $1 })
        #expect(listing.status == 0)
        #expect(listing.text.contains("rejected: The driver "))
        #expect(listing.text.contains("crashed with SIGSEGV while its platforms were listed. [driverCrashed]"))
        #expect(listing.text.contains("what helps: "))
        #expect(listing.text.contains("GPU jobs are refused:"))
        #expect(listing.errors.isEmpty, "a crash in the helper is not shown as one of ours")
    }

    @Test func withoutAnyDriverTheCPULaneIsStillListed() throws {
        let listing = try Fixture.run(
            Fixture.bgrun(), ["devices"], ["OCL_ICD_VENDORS": try TemporaryFolder.make()].merging(patience) { $1 })
        #expect(listing.text.hasPrefix("CPU lane\n  "))
        #expect(listing.text.contains("\nOpenCL\n  no driver\n"))
        #expect(listing.text.contains("[noICD]"))
    }

    /// PoCL shows its platform and no device when it cannot write its cache, whose place the environment decides.
    @Test func aDriverIsGivenAWritableCacheWhereTheUsualOneIsNot() throws {
        let document = try devices([
            "OCL_ICD_VENDORS": "/etc/OpenCL/vendors/pocl.icd", "XDG_CACHE_HOME": "/proc/none", "HOME": "/proc/none",
        ])
        let devices = try #require(document.drivers.first?.platforms.first?.devices)
        #expect(devices.map(\.health) == ["healthy"])
    }

    /// Root opens every file, so this runs as an ordinary user, with a home folder that does not exist.
    @Test("rule 20: a render node that the user may not open is the first reason")
    func aRenderNodeThatTheUserMayNotOpenIsTheFirstReason() throws {
        let root = try TemporaryFolder.make(["dev/dri/renderD128": ""])
        let node = "\(root)/dev/dri/renderD128"
        let program = "\(root)/bgrun"
        // In a process of its own: a file that is open for writing here could be inherited, and then not be executed.
        #expect(try Fixture.run("/bin/cp", [Fixture.bgrun(), program], [:]).status == 0)
        let group = String(cString: try #require(getgrgid(getuid() == 0 ? 44 : getgid())).pointee.gr_name)
        var command = [program, "devices", "--json", "--root", root]
        if getuid() == 0 {
            try #require(chown(node, 0, 44) == 0 && chmod(node, 0o660) == 0)
            command = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
        } else {
            try #require(chmod(node, 0) == 0)
        }
        let output = try Fixture.run(
            command[0], Array(command.dropFirst()),
            [
                "OCL_ICD_VENDORS": "\(try Fixture.drivers())/no-devices", "HOME": "/nonexistent",
                "XDG_CACHE_HOME": "/nonexistent",
            ].merging(patience) { $1 })
        #expect(output.status == 0, "\(output.errors)")
        let document = try JSONDecoder().decode(Document.self, from: Data(output.text.utf8))
        #expect(document.whyNoGPU.map(\.code) == ["noRenderPermission", "platformWithoutDevices"])
        #expect(document.whyNoGPU.first?.sentence.contains(node) == true)
        #expect(document.whyNoGPU.first?.fix.contains("sudo usermod -aG \(group) $USER") == true)
    }
}
