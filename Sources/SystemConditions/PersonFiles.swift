import Foundation
import TaskModel

/// The files by which a person decides for all of their programs, in `$XDG_CONFIG_HOME/bgrun`.
package struct PersonFiles: Hashable, Sendable {
    package let folder: String

    package init(folder: String) {
        self.folder = folder
    }

    /// The files, whether they are there or not; nil where there is no home.
    ///
    /// - Parameter environment: Of the process.
    package init?(environment: [String: String]) {
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            self.init(folder: folder + "/bgrun")
        } else if let home = environment["HOME"] {
            self.init(folder: home + "/.config/bgrun")
        } else {
            return nil
        }
    }

    /// `on` or `off` decides about low power mode.
    package var lowPowerSwitch: String { folder + "/low-power-mode" }
    /// Hours in which nothing is to run, as in `22:00-07:00,12:00-13:00`.
    package var quietHours: String { folder + "/quiet-hours" }
    /// As ``PriceFile``, with the number in ``priceLimit`` as its limit.
    package var prices: String { folder + "/prices.json" }
    package var priceLimit: String { folder + "/price-limit" }

    /// - Throws: ``AllowedHoursError`` for a file that is there and cannot be used.
    package func allowedHours() throws(AllowedHoursError) -> AllowedHours {
        var hours = AllowedHours()
        if let text = text(of: quietHours) { hours.quietHours = try QuietHours.parse(text) }
        if FileManager.default.fileExists(atPath: prices) {
            guard let limit = text(of: priceLimit).flatMap(Double.init) else {
                throw AllowedHoursError(
                    diagnostic: Diagnostic(
                        code: "priceFile", sentence: "There are prices in \(prices) and no limit for them.",
                        fix: "Write a number such as 30 into \(priceLimit)."))
            }
            hours.prices = try PriceFile(path: prices, limit: limit)
        }
        return hours
    }

    /// Without the white space around it; nil for an empty file, and where there is none.
    private func text(of path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? nil : text
    }
}
