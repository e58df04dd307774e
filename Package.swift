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

let cSettings: [CSetting] = [
    .treatAllWarnings(as: .error),
    .define("_GNU_SOURCE"),
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

/// A Swift room of this package. Its dependencies are the arrows a reader may draw: they point down only.
func room(_ name: String, path: String? = nil, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: swiftSettings)
}

func tests(of name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.target(name: name)] + dependencies, resources: resources,
        swiftSettings: swiftSettings)
}

let package = Package(
    name: "bgrun",
    products: [
        .executable(name: "bgrun", targets: ["bgrun"]),
        .library(name: "BackgroundTasks", targets: ["BackgroundTasks"]),
        .library(name: "BackgroundTasksTesting", targets: ["BackgroundTasksTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    ],
    targets: [
        .executableTarget(
            name: "bgrun", dependencies: ["BGRunCommands", argumentParser], swiftSettings: swiftSettings),
        room(
            "BGRunCommands",
            [
                "TaskModel", "SchedulingCore", "TaskStore", "SystemConditions", "ResourceProbe", "OpenCLKit",
                "ImageExport", "ImageCodecs", "ChunkedCompute", "DescribedFile", "ScheduleSimulation", "JobLink",
                argumentParser,
            ]),
        room("BackgroundTasksTesting", ["BackgroundTasks", "SchedulingCore", "SystemConditions", "TaskModel"]),
        room(
            "BackgroundTasks",
            [
                "SchedulingCore", "TaskModel", "SystemConditions", "ResourceProbe", "OpenCLKit", "CHostTimer",
                "DescribedFile",
            ]),
        .target(name: "CHostTimer", cSettings: cSettings),
        room("ScheduleSimulation", ["DescribedFile", "SchedulingCore", "TaskModel"]),
        room("DescribedFile", ["SchedulingCore", "TaskModel", yams]),
        room("TaskStore", ["TaskModel", grdb]),
        room("JobLink", ["TaskModel"]),
        room("WorkerPriority", ["TaskModel", "CWorkerPriority"]),
        .target(name: "CWorkerPriority", cSettings: cSettings),
        room("SchedulingCore", ["TaskModel", heap]),
        room("TaskModel"),
        room("SystemConditions", ["TaskModel", "CSystemConditions"]),
        .target(name: "CSystemConditions", cSettings: cSettings, linkerSettings: [.linkedLibrary("dl")]),
        room("ResourceProbe", ["TaskModel", "OpenCLKit"]),
        room("ImageExport", ["ChunkedCompute", "ImageCodecs", "Kernels", "OpenCLKit"]),
        room("ImageCodecs", ["CImageCodecs"]),
        .target(
            name: "CImageCodecs", cSettings: cSettings,
            linkerSettings: [
                .linkedLibrary("jpeg"), .linkedLibrary("spng"), .linkedLibrary("webp"), .linkedLibrary("webpmux"),
                .linkedLibrary("webpdemux"), .linkedLibrary("tiff"), .linkedLibrary("lcms2"), .linkedLibrary("exif"),
                .linkedLibrary("xxhash"),
            ]),
        room("ChunkedCompute"),
        room("OpenCLKit", ["COpenCL"]),
        .target(
            name: "COpenCL", cSettings: cSettings + [.define("CL_TARGET_OPENCL_VERSION", to: "300")],
            linkerSettings: [.linkedLibrary("dl")]),
        .target(
            name: "Kernels", path: "Kernels", exclude: ["Image"], sources: ["kernels.c", "cpu"],
            cSettings: cSettings + [.disableWarning("c23-extensions")]),

        room("SamplePhotos", path: "Benchmarks/SamplePhotos", ["ImageCodecs"]),
        .executableTarget(
            name: "bgrun-bench",
            dependencies: [
                "SamplePhotos", "ImageCodecs", "ImageExport", "BackgroundTasks", "SystemConditions", "SchedulingCore",
                "TaskModel", "JobLink", "WorkerPriority", "CBenchProcess",
                argumentParser,
            ],
            path: "Benchmarks/bgrun-bench", swiftSettings: swiftSettings),
        .target(name: "CBenchProcess", path: "Benchmarks/CBenchProcess", cSettings: cSettings),

        .target(
            name: "JPEGVariants", path: "Tests/JPEGVariants", cSettings: cSettings,
            linkerSettings: [.linkedLibrary("jpeg")]),
        tests(of: "BackgroundTasks", ["BackgroundTasksTesting", "ResourceProbe", "SchedulingCore", "TaskModel"]),
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
        room("SchedulerSimulation", path: "Tests/SchedulerSimulation", ["SchedulingCore", "TaskModel"]),
        tests(of: "SchedulingCore", ["TaskModel", "SchedulerSimulation"]),
        tests(of: "DescribedFile", ["TaskModel"]),
        tests(
            of: "ScheduleSimulation", ["DescribedFile", "SchedulingCore", "TaskModel"], resources: [.copy("Days")]),
        tests(of: "TaskStore", ["TaskModel", grdb]),
        tests(of: "SystemConditions", ["TaskModel"]),
        .target(
            name: "OpenCLFaults", dependencies: ["COpenCL"], path: "Tests/OpenCLFaults", cSettings: cSettings),
        tests(of: "OpenCLKit", ["COpenCL", "OpenCLFaults"]),
        tests(of: "ResourceProbe", ["OpenCLKit"]),
        tests(of: "ChunkedCompute"),
        tests(of: "ImageCodecs", ["JPEGVariants"]),
        tests(of: "ImageExport", ["SamplePhotos", "ChunkedCompute", "ImageCodecs", "Kernels", "OpenCLKit"]),
        tests(of: "BGRunCommands", ["SamplePhotos", "ImageExport", "JobLink", "TaskModel", "TaskStore"]),
        tests(of: "SamplePhotos", ["ImageCodecs"]),
        tests(of: "WorkerPriority", ["TaskModel"]),
    ]
)
