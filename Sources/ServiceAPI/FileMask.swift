import Glibc

/// The rights that new files of this process do not give (umask(2)).
package enum FileMask {
    /// To be read while no other thread makes files.
    package static var own: UInt32 {
        let mask = umask(0o077)
        umask(mask)
        return mask
    }
}
