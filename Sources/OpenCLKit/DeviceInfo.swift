package enum DeviceType: String, Codable, Hashable, Sendable {
    case cpu, gpu, accelerator, custom
}

/// What a device says about itself.
package struct DeviceInfo: Codable, Hashable, Sendable {
    /// `vendor:type:name`, the same on every run; never an index, which changes with the drivers installed.
    package var identity: String
    package var type: DeviceType
    package var name: String
    package var vendor: String
    package var driverVersion: String
    package var openCLVersion: String
    package var platformName: String
    package var platformVersion: String
    package var globalMemoryBytes: Int
    /// Largest single buffer.
    package var maxAllocationBytes: Int
    /// Local memory of one work-group.
    package var localMemoryBytes: Int
    package var computeUnits: Int
    package var maxWorkGroupSize: Int
    package var maxClockMHz: Int
    /// Host and device share memory, so that mapping a buffer need not copy it.
    package var hasUnifiedMemory: Bool
    package var isLittleEndian: Bool
    package var isAvailable: Bool
    package var hasCompiler: Bool

    package init(
        identity: String, type: DeviceType, name: String, vendor: String, driverVersion: String, openCLVersion: String,
        platformName: String, platformVersion: String, globalMemoryBytes: Int, maxAllocationBytes: Int,
        localMemoryBytes: Int, computeUnits: Int, maxWorkGroupSize: Int, maxClockMHz: Int, hasUnifiedMemory: Bool,
        isLittleEndian: Bool, isAvailable: Bool, hasCompiler: Bool
    ) {
        self.identity = identity
        self.type = type
        self.name = name
        self.vendor = vendor
        self.driverVersion = driverVersion
        self.openCLVersion = openCLVersion
        self.platformName = platformName
        self.platformVersion = platformVersion
        self.globalMemoryBytes = globalMemoryBytes
        self.maxAllocationBytes = maxAllocationBytes
        self.localMemoryBytes = localMemoryBytes
        self.computeUnits = computeUnits
        self.maxWorkGroupSize = maxWorkGroupSize
        self.maxClockMHz = maxClockMHz
        self.hasUnifiedMemory = hasUnifiedMemory
        self.isLittleEndian = isLittleEndian
        self.isAvailable = isAvailable
        self.hasCompiler = hasCompiler
    }
}
