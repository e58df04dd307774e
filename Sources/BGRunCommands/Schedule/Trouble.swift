import ArgumentParser
import DescribedFile

/// Tells what is wrong on standard error, in one place and form.
enum Trouble {
    /// - Returns: What the command has to throw.
    static func told(_ sentence: String, fix: String, _ status: ExitStatus) -> ExitCode {
        StandardError.write("bgrun: \(sentence) \(fix)".onOneLine + "\n")
        return status.code
    }
}

extension FileMistakes {
    /// Tells every mistake in the file, a line each.
    ///
    /// - Parameter status: For a file that can be read.
    /// - Returns: What the command has to throw.
    func told(_ status: ExitStatus) -> ExitCode {
        StandardError.write(description + "\n")
        return isUnreadable ? ExitStatus.missingInput.code : status.code
    }
}
