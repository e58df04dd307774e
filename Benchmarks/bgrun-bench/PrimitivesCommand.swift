import ArgumentParser
import Foundation
import Glibc
import OneDNNKit

/// `bgrun-bench primitives`: how fast oneDNN's primitives are on one thread, for the layers of three networks.
struct PrimitivesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "primitives", abstract: "Measure oneDNN's primitives for the layers of three networks.")

    @Option(help: "Times that each figure is taken; the median counts.")
    var rounds = 7

    @Option(help: "Only layers whose network or name contains this.")
    var only: String?

    @Flag(help: "Print the implementation beside each figure.")
    var implementations = false

    func run() throws {
        let engine = try CPUEngine()
        let stream = try CPUStream(on: engine)
        print("oneDNN \(engine.version), \(engine.instructionSet), one thread; median of \(rounds) rounds.")
        print("GFLOP/s of the thread's processor time (int8: Gop/s); - where there is no implementation.\n")
        print("| network | layer | Mflop | float32 plain | float32 chosen | bfloat16 chosen | int8 chosen |")
        print("|---|---|---|---|---|---|---|")
        let columns: [(DataType, MemoryDescriptor.Layout)] = [
            (.float32, .plain), (.float32, .chosenByPrimitive), (.bfloat16, .chosenByPrimitive),
            (.uint8, .chosenByPrimitive),
        ]
        for layer in PrimitiveLayer.all {
            if let only, !"\(layer.network) \(layer.name)".localizedCaseInsensitiveContains(only) { continue }
            var cells = [layer.network, layer.name, ""]
            for (type, layout) in columns {
                guard type != .bfloat16 || engine.hasBF16,
                    let (operation, attributes) = try layer.operation(type, layout)
                else {
                    cells.append("-")
                    continue
                }
                let primitive: Primitive
                do throws(OneDNNError) {
                    primitive = try Primitive(operation, attributes, on: engine)
                } catch {
                    guard error.code == .unimplemented else { throw error }
                    cells.append("-")
                    continue
                }
                let rate = try rate(primitive, stream)
                cells[2] = String(format: "%.1f", Double(primitive.floatingPointOperations) * 1e-6)
                cells.append(String(format: "%.1f", rate) + (implementations ? " \(primitive.implementation)" : ""))
            }
            print("| " + cells.joined(separator: " | ") + " |")
            // As it comes, also into a file.
            fflush(nil)
        }
    }

    /// What this thread has used of a processor: the same however busy the machine is.
    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Operations in a nanosecond, everything in the caches that fits.
    private func rate(_ primitive: Primitive, _ stream: CPUStream) throws(OneDNNError) -> Double {
        // Small positive numbers in every type: 60, 0.0115 and 0.0115.
        let operands = primitive.parameters.map { parameter in
            let buffer = AlignedBuffer(
                copying: [UInt8](repeating: 0x3C, count: max(parameter.descriptor.byteCount, 1)))
            return parameter.argument == .destination
                ? Operand.output(buffer) : Operand.input(parameter.argument, buffer)
        }
        func seconds(_ count: Int) throws(OneDNNError) -> Double {
            let start = Self.processorSeconds
            for _ in 0..<count { try stream.execute(primitive, operands) }
            return Self.processorSeconds - start
        }
        // The first is to fill the caches; then as many as take about 20 ms a round.
        _ = try seconds(1)
        let count = max(1, Int(0.02 / max(try seconds(3) / 3, 1e-7)))
        var rates: [Double] = []
        for _ in 0..<rounds {
            rates.append(Double(primitive.floatingPointOperations * count) / (try seconds(count)) * 1e-9)
        }
        return median(rates)
    }
}
