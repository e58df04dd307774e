import ArgumentParser
import BGRunCommands

@main
struct Main {
    static func main() async {
        await BGRun.runFromCommandLine()
    }
}
