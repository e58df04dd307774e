import Foundation
import Inference
import OpenCLKit
import Testing

@Suite struct KernelTextTests {
    private static let kernels = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Kernels")

    /// Structs by name, each with its fields in their order, e.g. `int32_t strides[3]`.
    private static func structs(_ text: String) -> [String: [String]] {
        let plain = text.replacing(/\/\/[^\n]*/, with: "").replacing("int32_t", with: "int").replacing(
            "bg_result", with: "product_result")
        var structs: [String: [String]] = [:]
        for match in plain.matches(of: /typedef struct \{([^}]*)\}\s*(\w+)\s*;/) {
            structs[String(match.2)] = match.1.split(separator: ";").flatMap { declaration in
                let words = declaration.split(whereSeparator: \.isWhitespace)
                let type = words.first.map(String.init) ?? ""
                return words.dropFirst().joined().split(separator: ",").map { "\(type) \($0)" }
            }
        }
        return structs
    }

    /// Every field has four bytes, so the order of fields is the layout.
    @Test func parametersAreLaidOutAlikeOnBothSides() throws {
        let header = try String(contentsOf: Self.kernels.appending(path: "include/InferenceKernels.h"), encoding: .utf8)
        var own = Self.structs(header)
        own["bg_value_link"] = own.removeValue(forKey: "bg_link")
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.kernels.appending(path: "Inference").path)
        var theirs: [String: [String]] = [:]
        for file in files where file.hasSuffix(".cl") {
            let text = try String(contentsOf: Self.kernels.appending(path: "Inference/\(file)"), encoding: .utf8)
            theirs.merge(Self.structs(text)) { first, _ in first }
        }
        #expect(theirs.count >= 12)
        for (name, fields) in theirs {
            let counterpart = name == "product_result" ? name : "bg_\(name)"
            #expect(own[counterpart] == fields, "\(name)")
            #expect(
                fields.allSatisfy { $0.hasPrefix("int ") || $0.hasPrefix("float ") || $0.hasPrefix("product_result ") })
        }
        #expect(own.count == theirs.count)
    }

    /// Every tuning that may be chosen compiles, also those for devices that are not here.
    @Test func kernelsCompileWithEveryTuning() throws {
        let device = try OpenCLFixture.openCLDevice()
        var info = device.info
        (info.type, info.vendor) = (.gpu, "NVIDIA Corporation")
        for threads in [64, 128, 256] {
            info.maxWorkGroupSize = threads
            let tuning = KernelTuning.standard(for: info)
            #expect(tuning.threads == threads && tuning.width == 1)
            for storage in ElementStorage.allCases { try compile(tuning, storage, on: device) }
            for candidate in KernelTuning.candidates(for: info) { try compile(candidate, on: device) }
        }
        for storage in ElementStorage.allCases { try compile(.shortVectors, storage, on: device) }
        for candidate in KernelTuning.candidates(for: device.info) { try compile(candidate, on: device) }
    }

    private func compile(
        _ tuning: KernelTuning, _ storage: ElementStorage = .float32, on device: Device
    ) throws {
        #expect(tuning.isSound, "\(tuning)")
        let kernels = try InferenceDevice(
            device: device, tuning: tuning, storage: storage, cache: ProgramCache(folder: nil))
        #expect(throws: Never.self, "\(tuning)") { try kernels.compileAll() }
    }
}
