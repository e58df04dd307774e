import OpenCLKit

/// Why a GPU job cannot run here, from everything that was found.
enum GPUVerdict {
    /// Empty when some device counts as a GPU.
    static func causes(drivers: [DriverReport], hardware: GraphicsHardware) -> [Cause] {
        let devices = drivers.flatMap { driver in driver.platforms.flatMap(\.devices) }
        guard !devices.contains(where: \.countsAsGPU) else { return [] }
        var causes: [Cause] = []
        // First: a driver that may not open its card reports no device, and would be blamed for it.
        if let cause = hardware.permissionCause { causes.append(cause) }
        for driver in drivers {
            for platform in driver.platforms {
                causes += platform.devices.compactMap(\.problem)
                if let problem = platform.problem { causes.append(problem) }
            }
            if let problem = driver.problem { causes.append(problem) }
        }
        let isLoaderMissing = causes.contains { $0.code == .noLoader }
        let isSilent = drivers.allSatisfy { $0.platforms.isEmpty && $0.problem == nil }
        if isSilent && !isLoaderMissing {
            causes.append(Cause(.noICD, "No OpenCL driver is installed.", fix: hardware.driverFix))
        }
        let healthyCPUs = devices.filter { $0.health == .healthy && $0.info.type != .gpu }
        if !healthyCPUs.isEmpty {
            let names = healthyCPUs.map(\.info.identity).joined(separator: ", ")
            let subject = healthyCPUs.count == 1 ? "The only usable OpenCL device is" : "The usable OpenCL devices are"
            causes.append(
                Cause(.onlyCPUDevices, "\(subject) no GPU: \(names).", fix: hardware.driverFix))
        }
        return unique(causes)
    }

    /// The loader's absence is found once for each driver.
    private static func unique(_ causes: [Cause]) -> [Cause] {
        var seen = Set<Cause>()
        return causes.filter { seen.insert($0).inserted }
    }
}
