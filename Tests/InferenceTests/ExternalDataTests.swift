import ModelParts
import Foundation
import Inference
import ONNXFormat
import SwiftProtobuf
import TemporaryFolders
import Testing

/// Data beside a model is read where the model's folder has it, a link in it included, and nowhere else.
@Suite struct ExternalDataTests {
    typealias Parts = ModelParts

    private let root: TemporaryFolder
    private let folder: URL

    init() throws {
        root = try TemporaryFolder()
        folder = root.url.appending(path: "model")
        try FileManager.default.createDirectory(at: folder.appending(path: "data"), withIntermediateDirectories: true)
        let floats: [Float] = [0, 1, 2, 3, 4, 5, 6, 7]
        let bytes = floats.withUnsafeBytes { Data($0) }
        try bytes.write(to: folder.appending(path: "data/w.bin"))
        try bytes.write(to: root.url.appending(path: "secret.bin"))
    }

    private func model(_ tensor: ONNXTensor) -> ONNXModel {
        Parts.model(
            Parts.graph(
                inputs: [], outputs: ["y"], nodes: [Parts.node("Identity", ["w"], ["y"])], initialisers: [tensor]))
    }

    @Test func dataIsReadFromItsPlace() throws {
        let tensor = Parts.external("w", [2, 2], location: "data/w.bin", offset: "8", length: "16")
        let loaded = try Parts.load(model(tensor), folder: folder.path)
        #expect(loaded.graph.initialisers["w"]?.doubles() == [2, 3, 4, 5])
        #expect(loaded.graph.initialisers["w"]?.shape == [2, 2])
    }

    @Test func aModelFileFindsItsDataBesideIt() throws {
        let file = folder.appending(path: "model.onnx")
        let bytes: Data = try model(Parts.external("w", [8], location: "data/w.bin")).serializedData()
        try bytes.write(to: file)
        #expect(try ModelImporter().load(path: file.path).graph.initialisers["w"]?.count == 8)
        let error = #expect(throws: ModelError.self) { try ModelImporter().load(path: self.folder.path) }
        #expect(error?.code == .notReadable)
    }

    @Test(arguments: ["../secret.bin", "data/../../secret.bin", "/etc/passwd", "", "data/w.bin\0x", ".."])
    func pathsThatLeaveTheFolderAreRefused(location: String) throws {
        let error = try #require(
            try Parts.error(model(Parts.external("w", [8], location: location)), folder: folder.path))
        #expect(error.code == .damaged)
        #expect(error.sentence.contains("\"w\""))
    }

    /// Whoever put a link into the folder had the say over it: caches of model hubs keep each file in one place and link to
    /// it. What stands behind a linked folder is named by the model alone.
    @Test func aLinkedFileInTheFolderIsFollowedAndALinkedFolderThatLeavesItIsRefused() throws {
        let manager = FileManager.default
        try manager.createSymbolicLink(
            at: folder.appending(path: "in.bin"), withDestinationURL: folder.appending(path: "data/w.bin"))
        for name in ["out.bin", "data/out.bin"] {
            try manager.createSymbolicLink(
                at: folder.appending(path: name), withDestinationURL: root.url.appending(path: "secret.bin"))
        }
        try manager.createSymbolicLink(at: folder.appending(path: "up"), withDestinationURL: root.url)
        try manager.createSymbolicLink(
            at: folder.appending(path: "same"), withDestinationURL: folder.appending(path: "data"))
        for location in ["in.bin", "out.bin", "data/out.bin", "same/w.bin"] {
            let loaded = try Parts.load(model(Parts.external("w", [8], location: location)), folder: folder.path)
            #expect(loaded.graph.initialisers["w"]?.doubles().last == 7, "\(location)")
        }
        for location in ["up/secret.bin", "up/model/out.bin/../../secret.bin"] {
            let error = try #require(
                try Parts.error(model(Parts.external("w", [8], location: location)), folder: folder.path))
            #expect(error.code == .damaged, "\(location)")
        }
        try manager.createSymbolicLink(
            at: folder.appending(path: "nowhere.bin"), withDestinationURL: root.url.appending(path: "gone.bin"))
        let error = try #require(
            try Parts.error(model(Parts.external("w", [8], location: "nowhere.bin")), folder: folder.path))
        #expect(error.code == .notReadable)
    }

    @Test func aModelThatIsALinkItselfFindsTheDataBesideTheLink() throws {
        // `snapshots/x/m.onnx -> ../../blobs/a` and its data likewise, as a hub's cache has them.
        let manager = FileManager.default
        let (blobs, snapshot) = (root.url.appending(path: "blobs"), root.url.appending(path: "snapshots/x"))
        for url in [blobs, snapshot] { try manager.createDirectory(at: url, withIntermediateDirectories: true) }
        let bytes: Data = try model(Parts.external("w", [8], location: "m.onnx.data")).serializedData()
        try bytes.write(to: blobs.appending(path: "a"))
        try manager.copyItem(at: folder.appending(path: "data/w.bin"), to: blobs.appending(path: "b"))
        for (name, blob) in [("m.onnx", "a"), ("m.onnx.data", "b")] {
            try manager.createSymbolicLink(
                atPath: snapshot.appending(path: name).path, withDestinationPath: "../../blobs/\(blob)")
        }
        let loaded = try ModelImporter().load(path: snapshot.appending(path: "m.onnx").path)
        #expect(loaded.graph.initialisers["w"]?.doubles() == [0, 1, 2, 3, 4, 5, 6, 7])
    }

    @Test(
        arguments: [
            ("0", "36"), ("4", "32"), ("40", nil), ("-4", "32"), ("x", nil), ("0", "28"), ("9223372036854775807", nil),
        ] as [(String, String?)])
    func placesBeyondTheFileAreRefused(offset: String, length: String?) throws {
        let tensor = Parts.external("w", [8], location: "data/w.bin", offset: offset, length: length)
        let error = try #require(try Parts.error(model(tensor), folder: folder.path))
        #expect(error.code == .damaged)
    }

    @Test func whatIsMissingOrNoFileIsNotReadable() throws {
        mkfifo(folder.appending(path: "pipe").path, 0o600)
        for location in ["nothing.bin", "data", "pipe"] {
            let error = try #require(
                try Parts.error(model(Parts.external("w", [8], location: location)), folder: folder.path))
            #expect(error.code == .notReadable)
        }
    }

    @Test func dataBeyondTheLimitIsRefused() throws {
        var importer = ModelImporter()
        importer.limits.externalBytes = 31
        let bytes: Data = try model(Parts.external("w", [8], location: "data/w.bin")).serializedData()
        let error = #expect(throws: ModelError.self) { try importer.load(bytes: bytes, folder: self.folder.path) }
        #expect(error?.code == .tooLarge)
    }
}
