import Foundation
import ResourceProbe
import Testing

@Suite struct MachineTests {
    private func cpu(flags: String, allowed: String) throws -> CPULane {
        let root = try TemporaryFolder.make([
            "proc/cpuinfo": "processor\t: 0\nmodel name\t: Example CPU @ 3: GHz\nflags\t\t: fpu \(flags)\n\n",
            "proc/self/status": "Name:\tx\nCpus_allowed_list:\t\(allowed)\n",
        ])
        return CPULane.read(root: root)
    }

    @Test func theCoresAreThoseThisProcessMayUse() throws {
        #expect(try cpu(flags: "", allowed: "0-2,5").cores == 4)
        #expect(try cpu(flags: "", allowed: "7").cores == 1)
        #expect(try cpu(flags: "", allowed: "nonsense").cores >= 1)
        #expect(try cpu(flags: "", allowed: "0").name == "Example CPU @ 3: GHz")
    }

    #if arch(x86_64)
        @Test func theInstructionSetNeedsEveryFlagThatItsKernelsUse() throws {
            #expect(try cpu(flags: "sse4_2 avx2", allowed: "0").instructionSet == .baseline)
            #expect(try cpu(flags: "avx2 fma", allowed: "0").instructionSet == .avx2)
            #expect(try cpu(flags: "avx2 fma avx512f avx512bw avx512dq", allowed: "0").instructionSet == .avx2)
            #expect(
                try cpu(flags: "avx2 fma avx512f avx512bw avx512dq avx512vl", allowed: "0").instructionSet == .avx512)
        }
    #endif

    @Test func theRealMachineHasANamedCPU() {
        let lane = CPULane.read()
        #expect(lane.cores >= 1 && lane.name != "unknown CPU")
    }

    @Test func aCardWithoutADriverNamesThePackageThatHelps() throws {
        let root = try TemporaryFolder.make([
            "sys/class/drm/card0/device/vendor": "0x1002\n", "sys/class/drm/card1/device/vendor": "0x8086\n",
        ])
        let hardware = GraphicsHardware.read(root: root)
        #expect(hardware.vendors == [.amd, .intel])
        #expect(hardware.driverFix == "Install mesa-opencl-icd for AMD, intel-opencl-icd for Intel.")
        #expect(hardware.permissionCause == nil)
    }

    @Test func anNVIDIADeviceInAContainerNamesTheVariableThatHelps() throws {
        let root = try TemporaryFolder.make(["dev/nvidiactl": ""])
        let hardware = GraphicsHardware.read(root: root)
        #expect(hardware.vendors == [.nvidia])
        #expect(hardware.driverFix.contains("nvidia-opencl-icd"))
        #expect(hardware.driverFix.contains("OCL_ICD_VENDORS=libnvidia-opencl.so.1"))
    }
}
