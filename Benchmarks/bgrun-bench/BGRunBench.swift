import ArgumentParser

/// The root of the benchmark command.
@main
struct BGRunBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bgrun-bench",
        abstract: "Make sample photographs, compare bgrun with other programs, measure the scheduler and oneDNN.",
        subcommands: [
            PhotosCommand.self, CompareCommand.self, OperationsCommand.self, EncodersCommand.self,
            PipelineCommand.self,
            SchedulerCommand.self, IdleCommand.self,
            StopsCommand.self, ServiceStopsCommand.self, GapsCommand.self, CourtesyCommand.self, PromotionCommand.self,
            CostCommand.self, SoakCommand.self, ProbeCommand.self, PrimitivesCommand.self, LanesCommand.self,
            DeviceCommand.self,
            InferenceCommand.self, InferenceStartCommand.self, InferenceWeightsCommand.self, InferenceOnceCommand.self,
            InferenceWorkerCommand.self, InferenceContentionCommand.self, InferenceLoopCommand.self,
        ]
    )
}
