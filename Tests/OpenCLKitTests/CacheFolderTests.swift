import Glibc
import OpenCLKit
import TemporaryFolders
import Testing

@Suite struct CacheFolderTests {
    @Test func theCacheFollowsTheEnvironmentAndIsMade() throws {
        let folder = try TemporaryFolder()
        let both = ["XDG_CACHE_HOME": "\(folder.path)/x", "HOME": "\(folder.path)/h"]
        #expect(CacheFolder.standard { both[$0] } == "\(folder.path)/x/bgrun")
        #expect(CacheFolder.standard { $0 == "HOME" ? both[$0] : nil } == "\(folder.path)/h/.cache/bgrun")
        #expect(access("\(folder.path)/h/.cache/bgrun", W_OK) == 0)
    }

    @Test func aRelativeOrUnusableFolderIsPassedOver() throws {
        let folder = try TemporaryFolder()
        let home = "\(folder.path)/h"
        for useless in ["relative", "/proc/none", ""] {
            let variables = ["XDG_CACHE_HOME": useless, "HOME": home]
            #expect(CacheFolder.standard { variables[$0] } == "\(home)/.cache/bgrun")
        }
        #expect(CacheFolder.standard { _ in nil } == "/tmp/bgrun-\(getuid())")
    }

    @Test func aFolderThatOthersCanWriteToIsRefused() throws {
        let folder = try TemporaryFolder()
        let open = "\(folder.path)/open"
        try #require(mkdir(open, 0o700) == 0)
        #expect(CacheFolder.makeWritable(open))
        try #require(chmod(open, 0o777) == 0)
        #expect(!CacheFolder.makeWritable(open))
    }

    @Test func aLinkIsNoFolder() throws {
        let folder = try TemporaryFolder()
        try #require(mkdir("\(folder.path)/real", 0o700) == 0)
        try #require(symlink("\(folder.path)/real", "\(folder.path)/link") == 0)
        #expect(!CacheFolder.makeWritable("\(folder.path)/link"))
    }
}
