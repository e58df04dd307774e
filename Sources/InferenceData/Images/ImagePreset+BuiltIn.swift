extension ImagePreset {
    /// What classifiers of torchvision are used with: shorter side 256, the middle 224, mean and deviation of ImageNet.
    package static let imagenet: ImagePreset = {
        var preset = ImagePreset()
        preset.resize = .shorter
        preset.size = Size(width: 256, height: 256)
        preset.crop = Size(width: 224, height: 224)
        preset.mean = [0.485, 0.456, 0.406]
        preset.std = [0.229, 0.224, 0.225]
        return preset
    }()

    /// CLIP's, from the settings that its models are published with: shorter side 224 bicubic, the middle 224, own mean and
    /// deviation.
    package static let clip: ImagePreset = {
        var preset = ImagePreset()
        preset.resize = .shorter
        preset.size = Size(width: 224, height: 224)
        preset.crop = Size(width: 224, height: 224)
        preset.filter = .bicubic
        preset.mean = [0.48145466, 0.4578275, 0.40821073]
        preset.std = [0.26862954, 0.26130258, 0.27577711]
        return preset
    }()

    /// What YOLO's models are used with: letterbox of 640 with gray 114 around, 0 ... 1.
    package static let yolo: ImagePreset = {
        var preset = ImagePreset()
        preset.resize = .letterbox
        preset.size = Size(width: 640, height: 640)
        preset.fill = [114, 114, 114]
        return preset
    }()

    /// As it is, 0 ... 1: for image-to-image models.
    package static let unit = ImagePreset()

    /// Built-in presets by their names.
    package static let builtIn: KeyValuePairs<String, ImagePreset> = [
        "imagenet": imagenet, "clip": clip, "yolo": yolo, "unit": unit,
    ]

    /// Names of the built-in presets.
    package static var names: [String] { builtIn.map(\.key) }
}
