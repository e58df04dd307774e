import CProcess

/// One thing that a confined process may still reach: a file, or a folder with everything below it.
package struct Grant: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// A path; where there is nothing, there is nothing to grant.
        case path(String)
        /// An open file or folder, whatever it is called meanwhile. It may be open for its place alone (`O_PATH`).
        case descriptor(Int32)
    }

    package enum Use: Hashable, Sendable {
        /// Read files and list folders.
        case read
        /// The same, and start the programs there.
        case run
        /// Make files and folders, write and rename them, take them away; not read them, nor list folders.
        case produce
        /// All that one does with files of one's own.
        case keep
        /// Talk to a device of the system.
        case device
    }

    package var place: Place
    package var use: Use

    package init(_ path: String, _ use: Use) {
        place = .path(path)
        self.use = use
    }

    package init(descriptor: Int32, _ use: Use) {
        place = .descriptor(descriptor)
        self.use = use
    }
}

extension Grant.Use {
    /// The rights over files as Landlock counts them.
    var rights: UInt64 {
        switch self {
        case .read: Self.bits(BG_LANDLOCK_READ_FILE, BG_LANDLOCK_READ_DIR)
        case .run: Grant.Use.read.rights | Self.bits(BG_LANDLOCK_EXECUTE)
        case .produce:
            Self.bits(
                BG_LANDLOCK_WRITE_FILE, BG_LANDLOCK_MAKE_REG, BG_LANDLOCK_MAKE_DIR, BG_LANDLOCK_REMOVE_FILE,
                BG_LANDLOCK_REFER, BG_LANDLOCK_TRUNCATE)
        case .keep: Grant.Use.read.rights | Grant.Use.produce.rights | Self.bits(BG_LANDLOCK_REMOVE_DIR)
        case .device: Grant.Use.read.rights | Self.bits(BG_LANDLOCK_WRITE_FILE, BG_LANDLOCK_IOCTL_DEV)
        }
    }

    /// Rights over what is in a file; the others are rights over folders.
    static let overFiles = bits(
        BG_LANDLOCK_EXECUTE, BG_LANDLOCK_WRITE_FILE, BG_LANDLOCK_READ_FILE, BG_LANDLOCK_TRUNCATE, BG_LANDLOCK_IOCTL_DEV)

    private static func bits(_ rights: Int...) -> UInt64 { rights.reduce(0) { $0 | UInt64($1) } }
}
