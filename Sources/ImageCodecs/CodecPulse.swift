import CImageCodecs

/// Asked within codec calls that take long whether to go on; a call that may not fails with ``CodecError/Code/stopped``.
package final class CodecPulse {
    private let mayGoOn: () -> Bool

    package init(mayGoOn: @escaping () -> Bool) {
        self.mayGoOn = mayGoOn
    }

    /// Asks between two parts of some work.
    package func check() throws(CodecError) {
        guard mayGoOn() else { throw CodecError(.stopped, "asked to stop") }
    }

    /// For C, which does not keep it: whoever hands it on does.
    var forC: ic_pulse {
        ic_pulse(
            may_go_on: { context in
                guard let context else { return 1 }
                return Unmanaged<CodecPulse>.fromOpaque(context).takeUnretainedValue().mayGoOn() ? 1 : 0
            }, context: Unmanaged.passUnretained(self).toOpaque())
    }
}
