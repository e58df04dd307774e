import Foundation
import Inference
import OpenCLFaults
import OpenCLKit
import Testing

@Suite(.serialized) struct OpenCLModelTests {
    /// A small network of which two nodes have no kernel.
    private static func network() throws -> (model: Model, inputs: [String: Tensor]) {
        try GraphFixture.network([
            node("MeanVarianceNormalization", ["s"], "l"), node("Sigmoid", ["l"], "e"),
            node("MaxPool", ["e"], "m", ["kernel_shape": .ints([2, 2])]), node("LpNormalization", ["m"], "y"),
        ])
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func whatHasNoKernelIsEvaluatedPlainly(form: OpenCLFixture.Form)
        throws
    {
        let (model, inputs) = try Self.network()
        let compiled = try OpenCLModel(model, on: OpenCLFixture.device(form))
        #expect(compiled.plainNodes.map(\.operatorName) == ["MeanVarianceNormalization", "LpNormalization"])
        let wanted = try ReferenceRunner().run(model, inputs: inputs)[0]
        expectClose(try #require(try compiled.execute(inputs)["y"]), wanted, tolerance: 1e-4)
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func oneRunAfterAnotherGivesTheSameBytes(form: OpenCLFixture.Form)
        throws
    {
        let (model, inputs) = try Self.network()
        let compiled = try OpenCLModel(model, on: OpenCLFixture.device(form))
        let first = try compiled.execute(inputs)["y"]?.elements(as: UInt32.self)
        // What a run has left behind must not matter.
        let nan = [Double](repeating: .nan, count: 20 * 144)
        _ = try compiled.execute(["x": try Tensor(.float32, shape: [1, 20, 12, 12], doubles: nan)])
        #expect(try compiled.execute(inputs)["y"]?.elements(as: UInt32.self) == first)
        #expect(first?.isEmpty == false)
    }

    @Test func aRunStopsBehindEachGroupOfLaunches() throws {
        let (model, inputs) = try Self.network()
        var tuning = KernelTuning.vectors
        tuning.launchesAtOnce = 1
        let compiled = try OpenCLModel(model, on: OpenCLFixture.device(.vectors, tuning: tuning))
        let whole = try compiled.execute(inputs)["y"]?.elements(as: UInt32.self)
        for count in 0..<compiled.stepCount {
            var asked = 0
            let error = #expect(throws: ModelError.self) {
                try compiled.execute(inputs) {
                    asked += 1
                    return asked > count
                }
            }
            #expect(error?.code == .stopped)
            #expect(asked == count + 1)
        }
        #expect(try compiled.execute(inputs)["y"]?.elements(as: UInt32.self) == whole)
    }

    @Test func launchesAreHandedOverInGroups() throws {
        let (model, inputs) = try Self.network()
        var tuning = KernelTuning.vectors
        var asked: [Int] = []
        for launches in [1, 1_000] {
            tuning.launchesAtOnce = launches
            tuning.multiplyAddsAtOnce = launches == 1 ? 1 : .max
            let compiled = try OpenCLModel(model, on: OpenCLFixture.device(.vectors, tuning: tuning))
            var count = 0
            _ = try compiled.execute(inputs) {
                count += 1
                return false
            }
            asked.append(count)
        }
        #expect(asked[1] < asked[0])
    }

    @Test func memoryIsToldBeforeItIsTaken() throws {
        let (model, _) = try Self.network()
        let compiled = try OpenCLModel(model, on: OpenCLFixture.device(.vectors))
        let slack = 2 * 4 * 8_192
        #expect(compiled.arenaByteCount >= 40 * 144 * 4)
        #expect(compiled.arenaByteCount <= 5 * 40 * 144 * 4 + slack)
        #expect(compiled.constantByteCount >= 2 * 40 * 20 * 9 * 4)
        #expect(compiled.constantByteCount <= 3 * 42 * 20 * 9 * 4 + slack)
    }

    @Test func inputsOfOtherShapesAreRefused() throws {
        let (model, _) = try Self.network()
        let compiled = try OpenCLModel(model, on: OpenCLFixture.device(.vectors))
        for inputs in [[:], ["x": try Tensor(.float32, shape: [1, 20, 12, 13])]] {
            let error = #expect(throws: ModelError.self) { try compiled.execute(inputs) }
            #expect(error?.code == .wrongInput)
        }
    }

    @Test(arguments: OpenCLFixture.Form.allCases) func positionsOutsideAreRefused(form: OpenCLFixture.Form) throws {
        var fixture = GraphFixture(seed: 9)
        try fixture.input("x", [3, 4])
        fixture.inputs["i"] = try Tensor(indices: [3])
        let model = fixture.model([node("Gather", ["x", "i"], "y")])
        let compiled = try OpenCLModel(model, on: OpenCLFixture.device(form))
        #expect(compiled.plainNodes.isEmpty)
        let error = #expect(throws: ModelError.self) { try compiled.execute(fixture.inputs) }
        #expect(error?.code == .wrongValue)
    }

    /// Whichever call of OpenCL fails, the run ends with a typed error and nothing is left on the device.
    @Test func aDeviceThatFailsLeavesNothingBehind() throws {
        opencl_faults_begin()
        defer { opencl_faults_end() }
        let library = OpenCLLibrary(functions: opencl_faults_wrap(try OpenCLLibrary.loadFunctions()))
        let (model, inputs) = try Self.network()
        func run() throws {
            let device = try OpenCLFixture.device(.vectors, library: library)
            let compiled = try OpenCLModel(model, on: device)
            #expect(try compiled.execute(inputs)["y"]?.count == 20 * 121)
        }
        // Calls that list devices are the kit's.
        opencl_faults_arm(0, 0)
        _ = try OpenCLFixture.openCLDevice(library)
        let listing = opencl_faults_calls()
        opencl_faults_arm(0, 0)
        try run()
        let calls = opencl_faults_calls()
        #expect(opencl_faults_live() == 0)
        var refused = 0
        for call in (listing + 1)...calls {
            opencl_faults_arm(call, OpenCLError.outOfResources)
            do {
                try run()
            } catch let error as ModelError {
                #expect(error.code == .engine, "call \(call)")
                refused += 1
            }
            #expect(opencl_faults_live() == 0, "call \(call)")
        }
        // Only the cache of programs goes on after a refusal.
        #expect(refused > 20 && refused >= Int(calls - listing) - 12, "\(refused) of \(calls - listing)")
    }
}
