package import Inference

extension ImagePreset {
    /// The preset for a model's input: layout, channels and, where the input's extents are fixed and differ, the crop (with
    /// the resize in proportion), the exact size or the letterbox follow it.
    ///
    /// - Parameter type: Of four axes with 1 or 3 channels; nil leaves the preset as it is.
    /// - Returns: The preset with what follows from the input.
    /// - Throws: `mismatch` where no picture can be that input.
    package func fitted(to type: TensorType?) throws(DataError) -> ImagePreset {
        guard let type, let shape = type.shape else { return self }
        guard shape.count == 4 else {
            throw .mismatch("A picture cannot be an input of the type \(type): it has not four axes.")
        }
        var preset = self
        let extents = shape.map(\.extent)
        let isChannels: (Int?) -> Bool = { $0 == 1 || $0 == 3 }
        if isChannels(extents[3]), !isChannels(extents[1]) {
            preset.layout = .nhwc
        } else if isChannels(extents[1]) {
            preset.layout = .nchw
        }
        let axes = preset.layout == .nchw ? (channels: 1, height: 2, width: 3) : (channels: 3, height: 1, width: 2)
        switch extents[axes.channels] {
        case 1: preset.channels = .gray
        case 3: if preset.channels == .gray { preset.channels = .rgb }
        case nil: break
        case let other?: throw .mismatch("A picture cannot be an input of \(other) channels.")
        }
        if preset.channelCount == 1, preset.mean.count == 3 || preset.std.count == 3 {
            preset.mean = [preset.mean.reduce(0, +) / Double(preset.mean.count)]
            preset.std = [preset.std.reduce(0, +) / Double(preset.std.count)]
        }
        if let width = extents[axes.width], let height = extents[axes.height] {
            let wanted = Size(width: width, height: height)
            try Self.check(wanted)
            preset.fit(wanted)
        }
        try preset.validate()
        return preset
    }

    private mutating func fit(_ wanted: Size) {
        if let crop {
            guard crop != wanted else { return }
            if let size, resize != .none {
                let share = max(
                    Double(wanted.width) / Double(crop.width), Double(wanted.height) / Double(crop.height))
                self.size = Size(
                    width: max(wanted.width, Int((Double(size.width) * share).rounded())),
                    height: max(wanted.height, Int((Double(size.height) * share).rounded())))
            }
            self.crop = wanted
        } else {
            switch resize {
            case .letterbox, .exact: break
            case .none, .shorter, .longer: resize = .exact
            }
            size = wanted
        }
    }
}
