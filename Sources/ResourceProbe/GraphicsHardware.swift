import Glibc

/// What the kernel knows of graphics cards, without asking any OpenCL driver.
package struct GraphicsHardware: Equatable {
    package enum Vendor: String, CaseIterable {
        case nvidia = "NVIDIA"
        case amd = "AMD"
        case intel = "Intel"

        /// Debian's package with this vendor's OpenCL driver.
        var package: String {
            switch self {
            case .nvidia: "nvidia-opencl-icd"
            case .amd: "mesa-opencl-icd"
            case .intel: "intel-opencl-icd"
            }
        }
    }

    package struct Node: Equatable {
        package var path: String
        /// Name of the group that may open it.
        package var group: String
    }

    package var vendors: [Vendor]
    /// Render nodes that exist and that this user may not open.
    package var closedNodes: [Node]

    package static func read(root: String) -> GraphicsHardware {
        // PCI vendor numbers as the kernel prints them.
        let numbers = ["0x10de": Vendor.nvidia, "0x1002": .amd, "0x8086": .intel]
        let cards = (SmallFile.names(in: "\(root)/sys/class/drm") ?? []).filter { $0.hasPrefix("card") }
        var found = Set<Vendor>()
        for card in cards {
            let number = SmallFile.text("\(root)/sys/class/drm/\(card)/device/vendor") ?? ""
            if let vendor = numbers[number.filter { !$0.isWhitespace }] { found.insert(vendor) }
        }
        // NVIDIA's own kernel driver works without a DRM card, e.g. in a container.
        if access("\(root)/dev/nvidiactl", F_OK) == 0 { found.insert(.nvidia) }

        let nodes = (SmallFile.names(in: "\(root)/dev/dri") ?? []).filter { $0.hasPrefix("renderD") }
        var closed: [Node] = []
        for path in nodes.map({ "\(root)/dev/dri/\($0)" })
        where access(path, R_OK | W_OK) != 0 && errno == EACCES {
            closed.append(Node(path: path, group: group(of: path)))
        }
        return GraphicsHardware(vendors: Vendor.allCases.filter(found.contains), closedNodes: closed)
    }

    private static func group(of path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0, let entry = getgrgid(status.st_gid) else { return "render" }
        return String(cString: entry.pointee.gr_name)
    }

    /// One cause for all nodes: they are opened by the same group.
    package var permissionCause: Cause? {
        guard let first = closedNodes.first else { return nil }
        let paths = closedNodes.map(\.path).joined(separator: ", ")
        return Cause(
            .noRenderPermission, "This user may not open the graphics device \(paths).",
            fix: "Run `sudo usermod -aG \(first.group) $USER` and log in again.")
    }

    /// The way to a driver for the cards that are there.
    package var driverFix: String {
        guard !vendors.isEmpty else {
            return "No graphics card was recognised; with one, install its OpenCL driver"
                + " (Debian: intel-opencl-icd, mesa-opencl-icd or nvidia-opencl-icd)."
        }
        let packages = vendors.map { "\($0.package) for \($0.rawValue)" }.joined(separator: ", ")
        let container =
            vendors.contains(.nvidia)
            ? " In a container that has the library but no driver file, set OCL_ICD_VENDORS=libnvidia-opencl.so.1." : ""
        return "Install \(packages).\(container)"
    }
}
