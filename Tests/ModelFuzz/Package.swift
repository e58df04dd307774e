// swift-tools-version: 6.2
import PackageDescription

// The rooms that read models, built apart with coverage for libFuzzer: see scripts/fuzz.sh. `Rooms` has links to them.

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
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")

func room(
    _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], settings: [SwiftSetting] = observed
) -> Target {
    .target(name: name, dependencies: dependencies, path: "Rooms/\(name)", exclude: exclude, swiftSettings: settings)
}

let package = Package(
    name: "ModelFuzz",
    dependencies: [
        // The same versions as in the package around this one.
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
    ],
    targets: [
        .executableTarget(
            name: "model-fuzz", dependencies: ["CFuzzer", "Inference", "ONNXFormat", "SeededNumbers", protobuf],
            swiftSettings: swiftSettings, linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
        .target(name: "CFuzzer", cSettings: cSettings),
        room(
            "Inference",
            [
                "ONNXFormat", "OneDNNKit", "OpenCLKit", "Kernels", "CChecksum", "CWeightCache", "Locking", "SystemText",
                crypto,
            ]),
        room("ONNXFormat", [protobuf], exclude: ["onnx.proto"], settings: swiftSettings),
        room("OneDNNKit", ["COneDNN", "CChecksum", "Locking"], settings: swiftSettings),
        .target(
            name: "COneDNN", path: "Rooms/COneDNN", cSettings: cSettings, linkerSettings: [.linkedLibrary("dl")]),
        room("OpenCLKit", ["COpenCL", "CChecksum", "Locking"], settings: swiftSettings),
        .target(
            name: "COpenCL", path: "Rooms/COpenCL",
            cSettings: cSettings + [.define("CL_TARGET_OPENCL_VERSION", to: "300")],
            linkerSettings: [.linkedLibrary("dl")]),
        .target(name: "CChecksum", path: "Rooms/CChecksum", cSettings: cSettings),
        .target(name: "CWeightCache", path: "Rooms/CWeightCache", cSettings: cSettings),
        room("Locking", [], settings: swiftSettings),
        room("SystemText", [], settings: swiftSettings),
        room("SeededNumbers", [], settings: swiftSettings),
        .target(
            name: "Kernels", path: "Rooms/Kernels", exclude: ["Image", "Inference"], sources: ["kernels.c", "cpu"],
            cSettings: cSettings + [.disableWarning("c23-extensions")]),
    ]
)
