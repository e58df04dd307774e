import SchedulingCore
import Testing

@Suite struct LanePolicyTests {
    /// Plays items of 24 megapixels one after the other; returns the lanes they got.
    private func lanes(_ policy: inout LanePolicy, items: Int, cpu: Double, device: Double) -> [LanePolicy.Lane] {
        (0..<items).map { _ in
            let lane = policy.next()
            policy.finished(on: lane, seconds: lane == .cpu ? cpu : device, megapixels: 24)
            return lane
        }
    }

    @Test func withoutADeviceEverythingRunsOnTheCPU() {
        var policy = LanePolicy(.measured, deviceIsUsable: false)
        let used = lanes(&policy, items: 10, cpu: 1, device: 0.1)
        #expect(used.allSatisfy { $0 == .cpu })
        #expect(policy.choice == nil)
    }

    @Test func theFasterDeviceIsChosenAfterTheFirstItems() {
        var policy = LanePolicy(.measured, deviceIsUsable: true)
        let used = lanes(&policy, items: 20, cpu: 1, device: 0.5)
        #expect(policy.choice == .device)
        #expect(used.suffix(10).allSatisfy { $0 == .device })
        #expect(used.contains(.cpu))
    }

    @Test func theFasterCPUIsChosenAfterTheFirstItems() {
        var policy = LanePolicy(.measured, deviceIsUsable: true)
        let used = lanes(&policy, items: 20, cpu: 0.5, device: 1)
        #expect(policy.choice == .cpu)
        #expect(used.filter { $0 == .device }.count == LanePolicy.samplesPerLane + 1)
    }

    @Test func theFirstItemOnTheDeviceCompilesKernelsAndDoesNotCount() {
        var policy = LanePolicy(.measured, deviceIsUsable: true)
        policy.finished(on: .device, seconds: 100, megapixels: 24)
        let used = lanes(&policy, items: 20, cpu: 1, device: 0.5)
        #expect(used.last == .device)
    }

    @Test func aDeviceFoundLaterIsMeasuredToo() {
        var policy = LanePolicy(.measured, deviceIsUsable: false)
        _ = lanes(&policy, items: 5, cpu: 1, device: 0.1)
        policy.deviceFound()
        let used = lanes(&policy, items: 20, cpu: 1, device: 0.1)
        #expect(used.last == .device)
    }

    @Test func aDeviceThatFailsInARowIsLeftAlone() {
        var policy = LanePolicy(.preferDevice, deviceIsUsable: true)
        for _ in 0..<LanePolicy.maxDeviceFailures {
            let lane = policy.next()
            #expect(lane == .device)
            #expect(policy.deviceFailed(again: false) == .againOnCPU)
        }
        let lane = policy.next()
        #expect(lane == .cpu)
    }

    @Test func aSuccessForgivesEarlierFailures() {
        var policy = LanePolicy(.preferDevice, deviceIsUsable: true)
        for _ in 0..<10 {
            _ = policy.deviceFailed(again: false)
            policy.finished(on: .device, seconds: 1, megapixels: 24)
        }
        let lane = policy.next()
        #expect(lane == .device)
    }
}
