/// Chooses the lane of each item, and learns from what the items took.
package struct LanePolicy: Sendable {
    package enum Lane: String, Hashable, Codable, Sendable {
        case cpu, device
    }

    /// What the person asked for.
    package enum Preference: String, Codable, Sendable {
        case cpu
        /// Every item on the device; without it the job cannot go on.
        case requireDevice
        /// The device, and the CPU for items it fails on.
        case preferDevice
        /// Whichever is faster on the first items; the CPU while no device is known.
        case measured
    }

    /// What becomes of an item that the device failed at.
    package enum Recourse: Hashable, Sendable {
        case againOnCPU
        case againOnDevice
        /// It has failed: others succeed, and this one did not a second time either.
        case none
        /// The device is to blame: it is left to a later run.
        case jobStops
    }

    private struct Sample: Sendable {
        var seconds = 0.0
        var megapixels = 0.0
        var count = 0

        mutating func add(seconds: Double, megapixels: Double) {
            self.seconds += seconds
            self.megapixels += megapixels
            count += 1
        }

        var secondsPerMegapixel: Double { megapixels > 0 ? seconds / megapixels : .infinity }
    }

    /// Items measured on each lane before choosing.
    package static let samplesPerLane = 3
    /// Items in a row that a device fails at before it is left alone.
    package static let maxDeviceFailures = 3

    private let preference: Preference
    package var requiresDevice: Bool { preference == .requireDevice }
    private var deviceIsUsable: Bool
    /// It was taken away; whatever is found later is not used.
    private var deviceIsLeft = false
    private var cpu = Sample()
    private var device = Sample()
    /// The first item on a device also compiles its kernels and is not counted.
    private var deviceIsWarm = false
    private var deviceHandedOut = 0
    private var deviceFailures = 0
    /// It failed too often in a row.
    package private(set) var deviceIsLost = false
    /// The measured choice, once it is made.
    package private(set) var choice: Lane?

    package init(_ preference: Preference, deviceIsUsable: Bool) {
        self.preference = preference
        self.deviceIsUsable = deviceIsUsable
    }

    /// A probe that ran beside the first items found a usable device.
    package mutating func deviceFound() {
        deviceIsUsable = !deviceIsLeft
    }

    /// The device is to be left alone for the rest of the job.
    package mutating func leaveDevice() {
        deviceIsLeft = true
        deviceIsUsable = false
        choice = .cpu
    }

    /// The lane of the next item.
    package mutating func next() -> Lane {
        let lane = coming
        if lane == .device, preference == .measured, choice == nil { deviceHandedOut += 1 }
        return lane
    }

    /// What ``next()`` would return.
    package var coming: Lane {
        guard deviceIsUsable else { return .cpu }
        switch preference {
        case .cpu: return .cpu
        case .requireDevice, .preferDevice: return .device
        case .measured: return choice ?? (deviceHandedOut <= Self.samplesPerLane ? .device : .cpu)
        }
    }

    /// An item was done on a lane in so many seconds of wall time.
    package mutating func finished(on lane: Lane, seconds: Double, megapixels: Double) {
        switch lane {
        case .cpu:
            cpu.add(seconds: seconds, megapixels: megapixels)
        case .device:
            deviceFailures = 0
            if deviceIsWarm {
                device.add(seconds: seconds, megapixels: megapixels)
            }
            deviceIsWarm = true
        }
        guard preference == .measured, choice == nil, cpu.count >= Self.samplesPerLane,
            device.count >= Self.samplesPerLane
        else { return }
        choice = device.secondsPerMegapixel < cpu.secondsPerMegapixel ? .device : .cpu
    }

    /// The device failed at an item, at which it may have failed before.
    package mutating func deviceFailed(again: Bool) -> Recourse {
        if again, requiresDevice { return deviceIsLost ? .jobStops : .none }
        deviceFailures += 1
        if deviceFailures >= Self.maxDeviceFailures {
            deviceIsUsable = false
            deviceIsLost = true
        }
        guard requiresDevice else { return .againOnCPU }
        return deviceIsLost ? .jobStops : .againOnDevice
    }
}
