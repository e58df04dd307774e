import ArgumentParser
import Foundation
import Glibc
import ServiceAPI
import SystemText

extension ServiceCommand {
    /// `bgrun service install`.
    struct Install: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install",
            abstract: "Have systemd start the service when it is needed, and again after a crash or a reboot.",
            discussion: """
                Writes two units of the user's own systemd, with a socket that starts the service, and enables them. \
                Nothing needs root.
                """)

        @Flag(help: "Print the units, and change nothing.")
        var dryRun = false

        func run() throws {
            let units = SystemdUnits(executable: Program.path, place: ServiceAccess.place)
            if dryRun {
                let texts = units.files.map { "# \($0.name)\n\($0.text)" }
                return try StandardOutput.print(texts.joined(separator: "\n"))
            }
            let folder = Self.folder
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                for file in units.files {
                    try Data(file.text.utf8).write(to: URL(fileURLWithPath: folder + "/" + file.name), options: .atomic)
                }
            } catch {
                throw Trouble.told(
                    "the units cannot be written to \(folder).", fix: "Make it writable.", .cannotCreate)
            }
            for arguments in [["daemon-reload"], ["enable", "--now", "bgrun.socket", "bgrun.service"]] {
                guard Self.systemctl(arguments) else {
                    throw Trouble.told(
                        "the units are in \(folder), and systemctl --user \(arguments.joined(separator: " ")) failed.",
                        fix: "Log in to a session with systemd and give the command again.", .unavailable)
                }
            }
            try StandardOutput.print("Installed in \(folder) and enabled.\n")
        }

        static var folder: String {
            let environment = ProcessInfo.processInfo.environment
            let configuration =
                environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
                ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.config"
            return configuration + "/systemd/user"
        }

        static func systemctl(_ arguments: [String]) -> Bool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["systemctl", "--user"] + arguments
            process.standardOutput = FileHandle.nullDevice
            do {
                try process.run()
            } catch {
                return false
            }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }

    /// `bgrun service uninstall`.
    struct Uninstall: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "uninstall", abstract: "Take the units of bgrun service install away.")

        func run() throws {
            _ = Install.systemctl(["disable", "--now", "bgrun.socket", "bgrun.service"])
            for name in SystemdUnits.names { unlink((Install.folder + "/" + name).systemBytes) }
            _ = Install.systemctl(["daemon-reload"])
        }
    }
}

/// The units of systemd that run the service (systemd.service(5), systemd.socket(5)).
struct SystemdUnits {
    static let names = ["bgrun.socket", "bgrun.service"]

    let executable: String
    let place: ServicePlace

    var files: [(name: String, text: String)] { [(Self.names[0], socket), (Self.names[1], service)] }

    private var socket: String {
        """
        [Unit]
        Description=Socket of bgrun

        [Socket]
        ListenStream=\(place.socket)
        SocketMode=0600
        DirectoryMode=0700

        [Install]
        WantedBy=sockets.target

        """
    }

    private var service: String {
        """
        [Unit]
        Description=Background compute (bgrun)
        Requires=bgrun.socket

        [Service]
        Type=exec
        ExecStart="\(executable.replacingOccurrences(of: "%", with: "%%"))" service run
        Restart=on-failure
        KillMode=mixed
        TimeoutStopSec=10

        [Install]
        WantedBy=default.target

        """
    }
}
