import Foundation
import ResourceProbe
import Testing

@Suite struct ICDCatalogueTests {
    private func entries(_ environment: [String: String], root: String = "/nowhere") -> [ICDCatalogue.Entry] {
        ICDCatalogue.read(environment: environment, root: root).entries
    }

    @Test func theSystemFolderIsReadInOrderAndOnlyItsDriverFiles() throws {
        let root = try TemporaryFolder.make([
            "etc/OpenCL/vendors/b.icd": "libb.so\n", "etc/OpenCL/vendors/a.icd": "liba.so\nsecond line\n",
            "etc/OpenCL/vendors/readme.txt": "libc.so\n",
        ])
        #expect(entries([:], root: root).map(\.library) == ["liba.so", "libb.so"])
        #expect(entries([:], root: root).allSatisfy { $0.file?.hasPrefix(root) == true })
    }

    @Test func theEnvironmentNamesAFolderAFileOrALibrary() throws {
        let folder = try TemporaryFolder.make(["x.icd": "libx.so"])
        #expect(entries(["OCL_ICD_VENDORS": folder]).map(\.library) == ["libx.so"])
        #expect(entries(["OCL_ICD_VENDORS": "\(folder)/"]).map(\.file) == ["\(folder)/x.icd"])
        #expect(entries(["OCL_ICD_VENDORS": "\(folder)/x.icd"]).map(\.library) == ["libx.so"])
        #expect(entries(["OCL_ICD_VENDORS": "liby.so"]).map(\.library) == ["liby.so"])
        #expect(entries(["OCL_ICD_VENDORS": "liby.so"]).map(\.file) == [nil])
        #expect(entries(["OPENCL_VENDOR_PATH": folder]).map(\.library) == ["libx.so"])
        #expect(entries(["OCL_ICD_VENDORS": "liby.so", "OPENCL_VENDOR_PATH": folder]).map(\.library) == ["liby.so"])
    }

    @Test func aFileNameAloneIsLookedForInTheSystemFolder() throws {
        let root = try TemporaryFolder.make(["etc/OpenCL/vendors/z.icd": "libz.so"])
        #expect(entries(["OCL_ICD_VENDORS": "z.icd"], root: root).map(\.library) == ["libz.so"])
    }

    @Test func oneLibraryInTwoFilesIsOneDriver() throws {
        let folder = try TemporaryFolder.make(["a.icd": "libx.so", "b.icd": "libx.so\n"])
        #expect(entries(["OCL_ICD_VENDORS": folder]).map(\.file) == ["\(folder)/a.icd"])
    }

    @Test func aMissingFolderHoldsNoDriver() {
        #expect(entries([:]).isEmpty)
        #expect(entries(["OPENCL_VENDOR_PATH": "/nowhere/at/all"]).isEmpty)
    }

    /// What the loader swallows without a word.
    @Test(arguments: [
        ("", "empty"), ("\nlibx.so\n", "empty"), ("libx.so\r\n", "Windows line ends"),
        ("# comment\nlibx.so", "comment"),
        ("lib\u{1}x.so", "not a text file"),
    ])
    func aFileThatNamesNoLibraryIsNamedItself(content: String, words: String) throws {
        let folder = try TemporaryFolder.make(["bad.icd": content, "good.icd": "libx.so"])
        let found = entries(["OCL_ICD_VENDORS": folder])
        #expect(found.map(\.problem?.code) == [.icdFileUnreadable, nil])
        #expect(found[0].problem?.sentence.contains("\(folder)/bad.icd") == true)
        #expect(found[0].problem?.sentence.contains(words) == true)
    }

    @Test func aDanglingLinkIsNamed() throws {
        let folder = try TemporaryFolder.make()
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/gone.icd", withDestinationPath: "\(folder)/nothing")
        #expect(entries(["OCL_ICD_VENDORS": folder]).map(\.problem?.code) == [.icdFileUnreadable])
    }
}
