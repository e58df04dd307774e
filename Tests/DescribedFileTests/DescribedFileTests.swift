import DescribedFile
import TaskModel
import Testing

@Suite struct DescribedFileTests {
}
