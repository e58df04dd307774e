import Foundation
import Glibc
import SystemConditions
import Testing

/// A message bus of the test's own with mocked services (dbusmock), driven by lines of Python.
final class MockBus {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let fixture: Fixture
    private var buffer = Data()
    let address: BusAddress

    init() throws {
        fixture = try Fixture(["driver.py": Self.driver])
        let socket = "\(fixture.path)/socket"
        address = BusAddress(address: "unix:path=\(socket)")
        try fixture.write(
            """
            <busconfig><type>system</type><keep_umask/><listen>unix:path=\(socket)</listen>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/></policy></busconfig>
            """, to: "bus.conf")
        // Debian's own Python has its own modules, whatever else is installed.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["\(fixture.path)/driver.py", "\(fixture.path)/bus.conf"]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(socket)"]
        ) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try #require(readLine() == "ready", "dbus-daemon and python3-dbusmock are needed")
    }

    /// The driver ends what it started when its input ends.
    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Runs a line of Python and waits for its end.
    func run(_ line: String) throws {
        input.fileHandleForWriting.write(Data((line + "\n").utf8))
        let answer = readLine()
        try #require(answer == "done", "\(line): \(answer ?? "the driver has ended")")
    }

    private func readLine() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer = Data(buffer[buffer.index(after: end)...])
                return line
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            buffer += data
        }
    }

    private static let driver = """
        import os, signal, subprocess, sys, time
        daemon = subprocess.Popen(['dbus-daemon', '--nofork', '--print-address', '--config-file', sys.argv[1]],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        services = {}
        daemon.stdout.readline()
        import dbus
        bus = dbus.SystemBus()

        NM, NM_PATH = 'org.freedesktop.NetworkManager', '/org/freedesktop/NetworkManager'
        LOGIN, LOGIN_PATH = 'org.freedesktop.login1', '/org/freedesktop/login1'
        LOGIN_MANAGER = LOGIN + '.Manager'

        def wait(holds):
            end = time.monotonic() + 60
            while not holds():
                if time.monotonic() > end: raise Exception('waited in vain')
                time.sleep(0.01)

        def serve(name, arguments):
            services[name] = subprocess.Popen([sys.executable, '-m', 'dbusmock', '--system'] + arguments,
                                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            wait(lambda: bus.name_has_owner(name))

        def mock(name, path):
            return dbus.Interface(bus.get_object(name, path), 'org.freedesktop.DBus.Mock')

        def logind(idle):
            serve(LOGIN, ['-t', 'logind'])
            mock(LOGIN, LOGIN_PATH).UpdateProperties(LOGIN_MANAGER, {'IdleHint': idle})

        def session(kind, session_class='user'):
            path = mock(LOGIN, LOGIN_PATH).AddSession('s1', 'seat0', 1000, 'somebody', True)
            mock(LOGIN, path).UpdateProperties(LOGIN + '.Session', {'Type': kind, 'Class': session_class})
            mock(LOGIN, LOGIN_PATH).EmitSignal(LOGIN_MANAGER, 'SessionNew', 'so', ['s1', path])

        def idle(value):
            mock(LOGIN, LOGIN_PATH).UpdateProperties(LOGIN_MANAGER, {'IdleHint': value})

        def signal_logind(name, value):
            mock(LOGIN, LOGIN_PATH).EmitSignal(LOGIN_MANAGER, name, 'b', [value])

        def inhibitors():
            return [tuple(str(x) for x in i) for i in
                    dbus.Interface(bus.get_object(LOGIN, LOGIN_PATH), LOGIN_MANAGER).ListInhibitors()]

        def network(metered):
            serve(NM, [NM, NM_PATH, NM])
            mock(NM, NM_PATH).AddProperty(NM, 'Metered', dbus.UInt32(metered, variant_level=1))

        def metered(value):
            mock(NM, NM_PATH).UpdateProperties(NM, {'Metered': dbus.UInt32(value)})

        def profiles(name, profile):
            path = '/' + name.replace('.', '/')
            serve(name, [name, path, name])
            mock(name, path).AddProperty(name, 'ActiveProfile', profile)

        def profile(name, value):
            mock(name, '/' + name.replace('.', '/')).UpdateProperties(name, {'ActiveProfile': value})

        def freeze(name):
            services[name].send_signal(signal.SIGSTOP)

        def stop(name):
            services[name].kill()
            wait(lambda: not bus.name_has_owner(name))

        print('ready', flush=True)
        for line in sys.stdin:
            try:
                exec(line)
                print('done', flush=True)
            except Exception as error:
                print(repr(error), flush=True)
        for process in list(services.values()) + [daemon]:
            process.kill()
            process.wait()
        os._exit(0)
        """
}
