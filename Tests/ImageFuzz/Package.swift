// swift-tools-version: 6.2
import PackageDescription

// The rooms that export pictures, built apart with coverage for libFuzzer: see scripts/fuzz.sh. `Rooms` has links to them.

let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]
/// Counts of edges and operands of comparisons tell the fuzzer which inputs lead somewhere new.
let observed = swiftSettings + [.unsafeFlags(["-sanitize=fuzzer,address"])]
let cSettings: [CSetting] = [.treatAllWarnings(as: .error), .define("_GNU_SOURCE")]

func room(_ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = swiftSettings) -> Target {
    .target(name: name, dependencies: dependencies, path: "Rooms/\(name)", swiftSettings: settings)
}

func cRoom(_ name: String, _ settings: [CSetting] = [], libraries: [String] = []) -> Target {
    .target(
        name: name, path: "Rooms/\(name)", cSettings: cSettings + settings,
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

let package = Package(
    name: "ImageFuzz",
    targets: [
        .executableTarget(
            name: "image-fuzz",
            dependencies: ["CFuzzer", "CAllocations", "ChunkedCompute", "ImageCodecs", "ImageExport"],
            swiftSettings: swiftSettings, linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
        .target(name: "CAllocations", cSettings: cSettings),
        cRoom("CFuzzer"),
        cRoom("CChecksum"),
        room(
            "ImageExport",
            ["ChunkedCompute", "ImageCodecs", "Kernels", "OpenCLKit", "Locking", "SystemText", "CProcess", "CTypeset"],
            settings: observed),
        room("ImageCodecs", ["CImageCodecs", "CChecksum", "Locking", "SystemText"], settings: observed),
        cRoom(
            "CImageCodecs", [.unsafeFlags(["-fsanitize=fuzzer-no-link"])],
            libraries: ["jpeg", "spng", "webp", "webpmux", "webpdemux", "lcms2", "dl"]),
        // FreeType's headers find each other by this path alone.
        cRoom("CTypeset", [.unsafeFlags(["-I/usr/include/freetype2"])], libraries: ["dl"]),
        cRoom("CProcess"),
        room("ChunkedCompute", []),
        room("OpenCLKit", ["COpenCL", "CChecksum", "Locking"]),
        cRoom("COpenCL", [.define("CL_TARGET_OPENCL_VERSION", to: "300")], libraries: ["dl"]),
        room("Locking", []),
        room("SystemText", []),
        .target(
            name: "Kernels", path: "Rooms/Kernels", exclude: ["Image", "Inference"], sources: ["kernels.c", "cpu"],
            cSettings: cSettings + [.disableWarning("c23-extensions")]),
    ]
)
