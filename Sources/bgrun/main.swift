import ArgumentParser
import BGRunCommands

await BGRun.main()
