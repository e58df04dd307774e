import COneDNN

/// The calling thread's flag for operations of IEEE 754 whose result is no number, or that compared what is none.
///
/// oneDNN's minima, maxima, bounds and exponentials give some number for NaN. Each begins with a comparison or a `maxps`, which
/// raise this flag for NaN on x86 (Intel, Software Developer's Manual, volume 1, 11.5.2), at no cost. So a run in which the
/// flag stayed down has met no NaN there.
package enum InvalidOperations {
    package static func forget() { bg_clear_invalid_flag() }
    /// Since they were forgotten.
    package static var haveOccurred: Bool { bg_has_invalid_flag() != 0 }
}
