import Foundation
import Glibc
import SystemConditions
import TaskModel
import TemporaryFolders
import Testing

/// A folder that stands for `/`, gone with its test.
final class Fixture: Sendable {
    private let folder: TemporaryFolder
    var path: String { folder.path }

    init(_ files: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        for (name, text) in files { try write(text, to: name) }
    }

    func write(_ text: String, to name: String) throws { try folder.write(text, to: name) }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }

    var root: SystemRoot { SystemRoot(path) }

    /// Whoever reads here asks a bus only where the test has one.
    func reader(
        bus: BusAddress? = nil, free: Int? = nil, now: Duration = .seconds(1_000_000)
    ) -> ConditionsReader {
        ConditionsReader(
            root: root, bus: bus ?? .standard(root: root, environment: [:]), freeBytes: { _ in free },
            wallClock: { now })
    }

    func read(
        _ settings: ConditionSettings = ConditionSettings(), now: Duration = .seconds(1_000_000)
    ) -> ConditionReadings {
        var meter = GPULoadMeter()
        return reader(now: now).read(settings, meter: &meter)
    }

    func gpuLoad(_ meter: inout GPULoadMeter, own: Set<Int> = [], at time: Duration) -> Reading<Double> {
        meter.read(root, own: own, at: time)
    }
}

/// A whole machine: laptop on battery, warm, with one card, in a control group.
enum Laptop {
    static let files = [
        "sys/class/power_supply/AC/type": "Mains\n",
        "sys/class/power_supply/AC/online": "0\n",
        "sys/class/power_supply/BAT0/type": "Battery\n",
        "sys/class/power_supply/BAT0/status": "Discharging\n",
        "sys/class/power_supply/BAT0/capacity": "64\n",
        "sys/class/power_supply/BAT0/energy_full": "50000000\n",
        "sys/class/power_supply/BAT0/energy_now": "32000000\n",
        "sys/class/power_supply/hid-mouse/type": "Battery\n",
        "sys/class/power_supply/hid-mouse/scope": "Device\n",
        "sys/class/power_supply/hid-mouse/capacity": "5\n",
        "sys/class/thermal/thermal_zone0/type": "x86_pkg_temp\n",
        "sys/class/thermal/thermal_zone0/temp": "61000\n",
        "sys/class/thermal/thermal_zone0/trip_point_0_type": "critical\n",
        "sys/class/thermal/thermal_zone0/trip_point_0_temp": "105000\n",
        "sys/class/thermal/thermal_zone0/trip_point_1_type": "passive\n",
        "sys/class/thermal/thermal_zone0/trip_point_1_temp": "95000\n",
        "sys/class/hwmon/hwmon1/name": "nvme\n",
        "sys/class/hwmon/hwmon1/temp1_input": "45850\n",
        "sys/class/hwmon/hwmon1/temp1_crit": "84850\n",
        "sys/class/hwmon/hwmon1/temp1_label": "Composite\n",
        "proc/pressure/cpu": "some avg10=2.66 avg60=1.00 avg300=0.50 total=1267564\n",
        "proc/pressure/io":
            "some avg10=12.50 avg60=1.24 avg300=0.41 total=84075913\nfull avg10=6.20 avg60=1.24 avg300=0.40 total=4\n",
        "proc/pressure/memory":
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        "proc/loadavg": "3.00 2.00 1.00 2/345 6789\n",
        "sys/devices/system/cpu/online": "0-1\n",
        "proc/meminfo": "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    8000000 kB\n",
        "proc/self/cgroup": "0::/user.slice/job.service\n",
        "proc/self/mountinfo": "41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n",
        "sys/fs/cgroup/user.slice/memory.max": "max\n",
        "sys/fs/cgroup/user.slice/memory.high": "max\n",
        "sys/fs/cgroup/user.slice/memory.current": "5000000000\n",
        "sys/fs/cgroup/user.slice/job.service/memory.max": "3000000000\n",
        "sys/fs/cgroup/user.slice/job.service/memory.high": "2000000000\n",
        "sys/fs/cgroup/user.slice/job.service/memory.current": "1500000000\n",
        "sys/fs/cgroup/user.slice/job.service/memory.stat": "anon 900000000\ninactive_file 400000000\n",
        "proc/net/route":
            """
        Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
        wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
        wlan0\t000200C0\t00000000\t0001\t0\t0\t600\t00FFFFFF\t0\t0\t0

        """,
        "proc/net/ipv6_route":
            "00000000000000000000000000000000 00 00000000000000000000000000000000 00 "
            + "fd000000000000000000000000000001 00000400 00000003 00000000 00000003    wlan0\n",
        "sys/class/net/wlan0/operstate": "up\n",
        "sys/firmware/acpi/platform_profile": "balanced\n",
        "sys/firmware/acpi/platform_profile_choices": "low-power balanced performance\n",
        "tmp/.X11-unix/X0": "",
        "dev/tty1": "",
        "dev/pts/0": "",
        "sys/class/drm/card0/device/gpu_busy_percent": "37\n",
        "sys/class/drm/card0/device/uevent": "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n",
        "sys/class/drm/card0-eDP-1/status": "connected\n",
        "proc/4321/fdinfo/7":
            "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t17\ndrm-pdev:\t0000:03:00.0\ndrm-engine-gfx:\t1000000000 ns\n",
    ]
}
