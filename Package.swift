// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Swift's runtime and Foundation inside the executable: it starts in half the time, and runs without a toolchain. They
/// refer to each other in circles, hence the group. Nothing looks symbols up in an executable: without a table of all of
/// them it starts in a tenth less.
let staticRuntime =
    ["-static-stdlib", "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "--start-group"]
    + [
        "Foundation", "CoreFoundation", "FoundationEssentials", "FoundationInternationalization",
        "_FoundationCollections", "_FoundationCShims", "_FoundationICU", "dispatch", "BlocksRuntime", "swiftDispatch",
        "swift_StringProcessing", "swift_RegexParser", "swift_Concurrency",
    ].map { "-l\($0)" }
    + ["-Xlinker", "--end-group", "-lstdc++", "-lm"]

/// Generic types are made by calls that the compiler writes out. Looking one up by its name instead, when it is first needed,
/// goes through all conformances in the program: 40 µs each time, a hundred times in a start. SwiftPM takes such a flag
/// from no package that is another's dependency, so it is for rooms that no library product has.
let quickStart: [SwiftSetting] = [
    .unsafeFlags(
        ["-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"], .when(configuration: .release))
]

let cSettings: [CSetting] = [
    .treatAllWarnings(as: .error),
    .define("_GNU_SOURCE"),
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
/// What an own HTTP service needs beside Hummingbird.
let http: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "HTTPTypes", package: "swift-http-types"),
    .product(name: "Logging", package: "swift-log"),
    .product(name: "HummingbirdCore", package: "hummingbird"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "UnixSignals", package: "swift-service-lifecycle"),
]
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

/// A Swift room of this package. Its dependencies are the arrows a reader may draw: they point down only.
func room(
    _ name: String, path: String? = nil, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
    resources: [Resource]? = nil, settings: [SwiftSetting] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: path, exclude: exclude, resources: resources,
        swiftSettings: swiftSettings + settings)
}

func tests(
    of name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], resources: [Resource]? = nil
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.target(name: name)] + dependencies, exclude: exclude,
        resources: resources, swiftSettings: swiftSettings)
}

let package = Package(
    name: "bgrun",
    products: [
        .executable(name: "bgrun", targets: ["bgrun"]),
        .library(name: "BackgroundTasks", targets: ["BackgroundTasks"]),
        .library(name: "BackgroundTasksTesting", targets: ["BackgroundTasksTesting"]),
        .library(name: "BackgroundInference", targets: ["BackgroundInference"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "bgrun", dependencies: ["BGRunCommands", argumentParser], swiftSettings: swiftSettings,
            linkerSettings: [.unsafeFlags(staticRuntime, .when(configuration: .release))]),
        room(
            "BGRunCommands",
            [
                "TaskModel", "SchedulingCore", "TaskStore", "SystemConditions", "ResourceProbe", "OpenCLKit",
                "ImageExport", "ImageCodecs", "ChunkedCompute", "DescribedFile", "ScheduleSimulation", "JobLink",
                "ServiceAPI", "ServiceClient", "BackgroundService", "BackgroundTasks", "Locking", "Confinement",
                "SystemText", "WorkerPriority", "ProgramLink", "Inference", "InferenceData", "CHeap", "CProcess",
                argumentParser,
            ], settings: quickStart),
        room(
            "BackgroundTasksTesting",
            [
                "BackgroundTasks", "DescribedFile", "ScheduleSimulation", "SchedulingCore", "SystemConditions",
                "TaskModel", "Locking",
            ]),
        room(
            "BackgroundTasks",
            [
                "SchedulingCore", "TaskModel", "SystemConditions", "ResourceProbe", "OpenCLKit", "CHostTimer",
                "DescribedFile", "Locking", "ProgramLink",
            ]),
        room("ProgramLink", ["JobLink", "TaskModel", "CProcess"]),
        .target(name: "CHeap", cSettings: cSettings),
        .target(name: "CHostTimer", cSettings: cSettings),
        room("ScheduleSimulation", ["DescribedFile", "SchedulingCore", "TaskModel"]),
        room("DescribedFile", ["SchedulingCore", "SystemText", "TaskModel", yams]),
        room("TaskStore", ["SystemText", "TaskModel", grdb]),
        room("JobLink", ["SystemText", "TaskModel", "CProcess"]),
        room("WorkerPriority", ["SystemText", "TaskModel", "CWorkerPriority"]),
        .target(name: "CWorkerPriority", cSettings: cSettings),
        room("Confinement", ["SystemText", "CProcess"]),
        room(
            "BackgroundService",
            [
                "ServiceAPI", "JobLink", "WorkerPriority", "BackgroundTasks", "SchedulingCore", "SystemConditions",
                "TaskStore", "TaskModel", "SystemText", "CProcess", "Locking",
            ] + http, resources: [.embedInCode("HTTP/openapi.yml")]),
        room("ServiceClient", ["ServiceAPI", "SystemText", "TaskModel", "CProcess"], settings: quickStart),
        room("ServiceAPI", ["TaskModel"], settings: quickStart),
        .target(name: "CProcess", cSettings: cSettings),
        room("SchedulingCore", ["TaskModel", heap]),
        room("TaskModel"),
        room("SystemText"),
        room("Locking"),
        room("SystemConditions", ["TaskModel", "CSystemConditions", "Locking"]),
        .target(name: "CSystemConditions", cSettings: cSettings, linkerSettings: [.linkedLibrary("dl")]),
        room("ResourceProbe", ["SystemText", "TaskModel", "OpenCLKit"]),
        room("BackgroundInference", ["Inference", "Locking", "OpenCLKit", "SystemText"]),
        room(
            "Inference",
            [
                "ONNXFormat", "OneDNNKit", "OpenCLKit", "Kernels", "CChecksum", "CWeightCache", "Locking", "SystemText",
                crypto,
            ]),
        .target(name: "CWeightCache", cSettings: cSettings),
        room(
            "InferenceData",
            ["Inference", "ImageCodecs", "ImageExport", "ChunkedCompute", "SystemText", "CArchive", yams]),
        .target(name: "CArchive", cSettings: cSettings, linkerSettings: [.linkedLibrary("dl")]),
        room("ONNXFormat", [protobuf], exclude: ["onnx.proto"]),
        room(
            "ImageExport",
            ["ChunkedCompute", "ImageCodecs", "Kernels", "OpenCLKit", "Locking", "SystemText", "CProcess", "CTypeset"],
            settings: quickStart),
        // FreeType's headers find each other by this path alone.
        .target(
            name: "CTypeset", cSettings: cSettings + [.unsafeFlags(["-I/usr/include/freetype2"])],
            linkerSettings: [.linkedLibrary("dl")]),
        room("ImageCodecs", ["CImageCodecs", "CChecksum", "Locking", "SystemText"], settings: quickStart),
        .target(
            name: "CImageCodecs", cSettings: cSettings,
            linkerSettings: [
                .linkedLibrary("jpeg"), .linkedLibrary("spng"), .linkedLibrary("webp"), .linkedLibrary("webpmux"),
                .linkedLibrary("webpdemux"), .linkedLibrary("lcms2"), .linkedLibrary("dl"),
            ]),
        room("ChunkedCompute", settings: quickStart),
        room("OpenCLKit", ["COpenCL", "CChecksum", "Locking"]),
        .target(
            name: "COpenCL", cSettings: cSettings + [.define("CL_TARGET_OPENCL_VERSION", to: "300")],
            linkerSettings: [.linkedLibrary("dl")]),
        room("OneDNNKit", ["COneDNN", "CChecksum", "Locking"]),
        .target(name: "CChecksum", cSettings: cSettings),
        .target(name: "COneDNN", cSettings: cSettings, linkerSettings: [.linkedLibrary("dl")]),
        .target(
            name: "Kernels", path: "Kernels", exclude: ["Image", "Inference"], sources: ["kernels.c", "cpu"],
            cSettings: cSettings + [.disableWarning("c23-extensions")]),

        room("SamplePhotos", path: "Benchmarks/SamplePhotos", ["ImageCodecs", "SeededNumbers"]),
        .executableTarget(
            name: "bgrun-bench",
            dependencies: [
                "SamplePhotos", "ImageCodecs", "ImageExport", "ChunkedCompute", "BackgroundTasks", "SystemConditions",
                "SchedulingCore",
                "TaskModel", "JobLink", "WorkerPriority", "ServiceAPI", "ServiceClient", "CBenchProcess", "Locking",
                "OneDNNKit", "Inference", "InferenceData", "OpenCLKit", "SeededNumbers", argumentParser,
            ],
            path: "Benchmarks/bgrun-bench", swiftSettings: swiftSettings),
        .target(name: "CBenchProcess", path: "Benchmarks/CBenchProcess", cSettings: cSettings),

        .target(
            name: "JPEGVariants", path: "Tests/JPEGVariants", cSettings: cSettings,
            linkerSettings: [.linkedLibrary("jpeg")]),
        tests(
            of: "BackgroundTasks",
            [
                "BackgroundTasksTesting", "ResourceProbe", "SchedulingCore", "SystemConditions", "TaskModel", "Locking",
                "ProgramLink", "SeededNumbers", "TemporaryFolders",
            ]),
        .target(
            name: "AppleSourceSwift5", dependencies: ["BackgroundTasks"], path: "Tests/AppleSourceSwift5",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(
            name: "AppleSourceSwift6", dependencies: ["BackgroundTasks"], path: "Tests/AppleSourceSwift6",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .testTarget(
            name: "AppleSourceTests",
            dependencies: ["AppleSourceSwift5", "AppleSourceSwift6", "BackgroundTasks", "BackgroundTasksTesting"],
            swiftSettings: swiftSettings),
        .testTarget(name: "RuleTableTests", swiftSettings: swiftSettings),
        room("SeededNumbers", path: "Tests/SeededNumbers"),
        room("TemporaryFolders", path: "Tests/TemporaryFolders"),
        room("RandomPictures", path: "Tests/RandomPictures", ["ImageCodecs", "ImageExport", "SeededNumbers"]),
        room(
            "SchedulerSimulation", path: "Tests/SchedulerSimulation",
            ["SchedulingCore", "SeededNumbers", "TaskModel"]),
        tests(of: "SchedulingCore", ["TaskModel", "SchedulerSimulation", "SeededNumbers"]),
        tests(of: "BackgroundTasksTesting", ["BackgroundTasks", "TemporaryFolders"]),
        tests(of: "DescribedFile", ["TaskModel"]),
        tests(
            of: "ScheduleSimulation", ["DescribedFile", "SchedulingCore", "TaskModel", "TemporaryFolders"],
            resources: [.copy("Days")]),
        tests(of: "TaskStore", ["TaskModel", "TemporaryFolders", grdb]),
        tests(of: "Locking"),
        tests(of: "SystemText", ["SeededNumbers", "TemporaryFolders"]),
        tests(of: "Confinement", ["CProcess", "JobLink", "TemporaryFolders"]),
        tests(
            of: "SystemConditions",
            [
                "BackgroundTasks", "BackgroundTasksTesting", "TaskModel", "Locking", "SeededNumbers",
                "TemporaryFolders",
            ]),
        .target(
            name: "OpenCLFaults", dependencies: ["COpenCL"], path: "Tests/OpenCLFaults", cSettings: cSettings),
        tests(of: "OpenCLKit", ["CChecksum", "COpenCL", "OpenCLFaults", "TemporaryFolders"]),
        tests(of: "ResourceProbe", ["OpenCLKit"]),
        tests(of: "OneDNNKit", ["Locking", "SeededNumbers"]),
        tests(of: "ChunkedCompute"),
        tests(of: "ImageCodecs", ["JPEGVariants", "SeededNumbers", "TemporaryFolders"], exclude: ["FORMATS.md"]),
        tests(
            of: "ImageExport",
            [
                "SamplePhotos", "ChunkedCompute", "ImageCodecs", "Kernels", "OpenCLKit", "CProcess", "RandomPictures",
                "SeededNumbers", "TemporaryFolders",
            ]),
        tests(
            of: "BGRunCommands",
            [
                "SamplePhotos", "ChunkedCompute", "ImageExport", "JobLink", "TaskModel", "TaskStore", "Confinement",
                argumentParser, "BackgroundTasks", "BackgroundTasksTesting", "SystemConditions", "ProgramLink",
                "ModelParts", "ONNXFormat", "Inference",
                "InferenceData", "ImageCodecs", "RandomPictures", "SchedulingCore", "SeededNumbers", "SystemText",
                "TemporaryFolders",
                protobuf,
            ], exclude: ["OPERATIONS.md", "Operations"]),
        tests(
            of: "BackgroundService",
            [
                "BackgroundTasksTesting", "CProcess", "JobLink", "SchedulingCore", "ServiceAPI", "SystemConditions",
                "TaskModel", "TaskStore", "TemporaryFolders", "WorkerPriority", grdb, yams,
            ]),
        tests(of: "SamplePhotos", ["ImageCodecs", "TemporaryFolders"]),
        tests(of: "BackgroundInference", ["ModelParts", "ONNXFormat", "OpenCLKit", "TemporaryFolders", protobuf]),
        room("ModelParts", path: "Tests/ModelParts", ["Inference", "ONNXFormat", protobuf]),
        tests(
            of: "Inference",
            [
                "ONNXFormat", "ModelParts", "OneDNNKit", "OpenCLKit", "OpenCLFaults", "SeededNumbers", "CChecksum",
                "TemporaryFolders", protobuf,
            ],
            exclude: ["CONFORMANCE.md", "OPERATORS.md", "Scripts"], resources: [.copy("Fixtures")]),
        tests(
            of: "InferenceData", ["Inference", "ImageCodecs", "ImageExport"], exclude: ["Scripts"],
            resources: [.copy("Fixtures")]),
        tests(of: "WorkerPriority", ["TaskModel", "TemporaryFolders"]),
        tests(of: "JobLink", ["TaskModel"]),
        tests(of: "ServiceClient", ["ServiceAPI"]),
    ]
)
