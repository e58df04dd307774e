/// A place in an upright picture by fractions: 0, 0 is its upper left corner, 1, 1 the lower right one.
///
/// Something smaller that is placed there touches the edges at 0 and 1 and lies in the middle at 0.5.
package struct Placement: Codable, Hashable, Sendable {
    package var x: Double
    package var y: Double

    package static let center = Placement(x: 0.5, y: 0.5)

    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Names of places, e.g. `top`, `bottom-right`, `center`.
    package static let names: [String: Placement] = [
        "top-left": .init(x: 0, y: 0), "top": .init(x: 0.5, y: 0), "top-right": .init(x: 1, y: 0),
        "left": .init(x: 0, y: 0.5), "center": .center, "right": .init(x: 1, y: 0.5),
        "bottom-left": .init(x: 0, y: 1), "bottom": .init(x: 0.5, y: 1), "bottom-right": .init(x: 1, y: 1),
    ]
}
